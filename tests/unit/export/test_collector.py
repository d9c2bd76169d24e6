"""A collector: where it is, what is sent along, and what its answers mean."""

from __future__ import annotations

import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from collecting import collector
from stenograph.errors import InvalidOption
from stenograph.export.collector import collector_of
from stenograph.export.otlp import RESOURCE, SCOPE
from stenograph.export.otlp_protobuf import request_message
from stenograph.export.sending import PROTOBUF, NotSent, send_trace

EMPTY = request_message(RESOURCE, SCOPE, [])


def test_an_address_may_have_the_path_or_not() -> None:
    """`URL/v1/traces` is what is asked for, once."""
    for text in ("http://h:4318", "http://h:4318/", "http://h:4318/v1/traces", "http://h:4318/v1/traces/"):
        assert collector_of(text, environment={}).url == "http://h:4318/v1/traces"
    assert collector_of("https://h/api/otel", environment={}).url == "https://h/api/otel/v1/traces"


@pytest.mark.parametrize(
    "text", ["nowhere", "ftp://h", "http://", "http://user:secret@h", "http://h?x=1", "http://h/a b", "http://[", ""]
)
def test_what_is_not_an_address_is_one_line(text: str) -> None:
    """A mistake, and never the password in it."""
    with pytest.raises(InvalidOption) as error:
        collector_of(text, environment={})
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)


def test_headers_are_those_of_the_variables_and_of_the_options() -> None:
    """The variable for traces before the one for all, values as they are written there, options on top."""
    told = {"OTEL_EXPORTER_OTLP_HEADERS": "a=1,authorization=Bearer%20x%2Cy , b = 2"}
    assert collector_of("http://h", ["B=3", "c=4=5"], told).headers == {
        "a": "1",
        "authorization": "Bearer x,y",
        "b": "3",
        "c": "4=5",
    }
    told["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] = "d=1"
    assert collector_of("http://h", environment=told).headers == {"d": "1"}
    for mistake in ("nothing", "=x", "a b=c", "a=b\r\nc: d", "a=\N{BLACK HEART SUIT}"):
        with pytest.raises(InvalidOption):
            collector_of("http://h", [mistake], {})


def test_headers_and_compression_reach_the_collector() -> None:
    """Ours cannot be replaced by a header of the user's."""
    with collector() as taken:
        told = {"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}
        there = collector_of(taken.url, ["authorization=Bearer x", "content-type=text/plain"], told)
        assert send_trace(EMPTY, there, PROTOBUF) == (0, "")
    (headers,) = taken.headers
    assert (headers["authorization"], headers["content-type"]) == ("Bearer x", PROTOBUF)
    assert (headers["content-encoding"], headers["path"]) == ("gzip", "/v1/traces")


def test_a_collector_may_say_that_it_left_something_out() -> None:
    """In either form; an answer that says nothing says that all was taken."""
    partial = ExportTraceServiceResponse()
    partial.partial_success.rejected_spans = 300
    partial.partial_success.error_message = "too old"
    plain = b'{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no room"}}'
    json_kind = {"Content-Type": "application/json"}
    with collector() as taken:
        taken.answers += [
            (200, {"Content-Type": PROTOBUF}, partial.SerializeToString()),
            (200, json_kind, plain),
            *[(200, json_kind, odd) for odd in (b"{}", b"[]", b"", b"{", b"\xff", b'{"partialSuccess":null}')],
            (200, {"Content-Type": PROTOBUF}, b"\x0a\xff\xff"),
        ]
        there = collector_of(taken.url, environment={})
        told = [send_trace(EMPTY, there, PROTOBUF) for _ in range(9)]
    assert told == [(300, "too old"), (2, "no room"), *[(0, "")] * 7]


def test_refusals_say_what_to_do() -> None:
    """Each is one line with the answer; another address is never followed, where the headers would go, too."""
    with collector() as other, collector() as taken:
        there = collector_of(taken.url, ["authorization=Bearer x"], {})
        for status, headers, is_refusal, word in (
            (401, {}, False, "--header"),
            (413, {}, True, "too large"),
            (415, {}, False, "otlp-protobuf"),
            (503, {"Retry-After": "7"}, False, "check"),
            (302, {"Location": other.url}, False, "302"),
        ):
            taken.answers.append((status, headers, b""))
            with pytest.raises(NotSent, match=word) as error:
                send_trace(EMPTY, there, PROTOBUF)
            assert error.value.is_refusal == is_refusal
            assert error.value.retry_after == (7 if status == 503 else None)
        assert not other.headers
        taken.answers.append((429, {"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"}, b""))
        with pytest.raises(NotSent) as error:
            send_trace(EMPTY, there, PROTOBUF)
        assert (error.value.retry_after or 0) > 1e6
    with pytest.raises(NotSent, match="cannot send"):
        send_trace(EMPTY, there, PROTOBUF)


def test_a_certificate_of_ones_own_is_trusted_where_it_is_named(tmp_path: Path) -> None:
    """And is not where it is not; one that cannot be read is one line."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    named = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run([*made, "-keyout", key, "-out", certificate, *named], check=True, capture_output=True)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Quiet."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            url = f"https://127.0.0.1:{server.server_port}"
            trusting = {"OTEL_EXPORTER_OTLP_CERTIFICATE": str(certificate)}
            assert send_trace(EMPTY, collector_of(url, environment=trusting), PROTOBUF) == (0, "")
            with pytest.raises(NotSent, match="certificate"):
                send_trace(EMPTY, collector_of(url, environment={}), PROTOBUF)
            lost = collector_of(url, environment={"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere.pem"})
            with pytest.raises(NotSent, match="nowhere"):
                send_trace(EMPTY, lost, PROTOBUF)
        finally:
            server.shutdown()
            thread.join()

"""Bus: calls subscribers with every value that is dispatched."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from stenograph.after_fork import reset_after_fork

log = logging.getLogger("stenograph.session")

T = TypeVar("T")


class Bus:
    """Calls subscribers in the order in which they subscribed; one that fails does not disturb the others."""

    def __init__(self) -> None:
        self._subscriptions: tuple[_Subscription, ...] = ()
        self._failed = 0
        self._lock = threading.Lock()  # protects changes of the subscriptions and of the count
        reset_after_fork(self)

    @property
    def failed(self) -> int:
        """How often a subscriber raised; the log says what."""
        return self._failed

    def subscribe(self, kind: type[T], subscriber: Callable[[T], object]) -> Callable[[], None]:
        """Call the subscriber with every value of this type or a subclass; returns a function that ends that."""
        subscription = _Subscription(kind, subscriber)
        with self._lock:
            self._subscriptions += (subscription,)

        def unsubscribe() -> None:
            with self._lock:
                self._subscriptions = tuple(each for each in self._subscriptions if each is not subscription)

        return unsubscribe

    def publish(self, value: object) -> None:
        """Call the subscribers of the value's type. What they raise is logged and counted."""
        for subscription in self._subscriptions:
            if isinstance(value, subscription.kind):
                try:
                    subscription.subscriber(value)
                except Exception as error:  # noqa: BLE001  # a subscriber is the host's code and may do anything
                    with self._lock:
                        self._failed += 1
                    subscription.tell(value, error)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()


class _Subscription:
    """One subscriber, and when its failures were last logged."""

    def __init__(self, kind: type[Any], subscriber: Callable[[Any], object]) -> None:
        self.kind = kind
        self.subscriber = subscriber
        self._logged_at = float("-inf")

    def tell(self, value: object, error: Exception) -> None:
        now = time.monotonic()
        if now - self._logged_at < 1.0:  # it may fail for every entry; log that once a second
            return
        self._logged_at = now
        with suppress(Exception):  # the host's log handlers are called here, and they may fail, too
            log.error("subscriber %r failed on a %s", self.subscriber, type(value).__name__, exc_info=error)

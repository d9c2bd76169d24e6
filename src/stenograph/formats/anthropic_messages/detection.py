"""Which files hold calls of this API."""

from stenograph.formats.shared.model_api.recognize import detection_of

detect = detection_of("messages")

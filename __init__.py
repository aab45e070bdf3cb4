"""Annotate, partition, publish and audit datasets of faces and affect."""

__version__ = "0.1.0"

_PUBLIC = {
    "Items": "catalog",
    "Partition": "partition",
    "Protocol": "protocols",
    "ProtoctlError": "errors",
    "load_items": "catalog",
    "load_protocol": "protocols",
    "read_manifest": "manifests",
    "split_items": "partition",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name):
    if name in _PUBLIC:
        load = __import__("importlib").import_module
        return getattr(load(f"protoctl.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'protoctl' has no attribute {name!r}")


def __dir__():
    return __all__

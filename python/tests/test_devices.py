"""Columns in device memory, as results and as facts."""

import ctypes
import gc
from typing import Any

import numpy
import pytest

import gpulog

CUDA, EMULATED = 2, 12  # numbers of DLPack


@pytest.mark.parametrize("storage", ["auto", "hisa"])
def test_columns_on_a_device(storage: str) -> None:
    text = """.decl a(x:number, f:float)
    .decl b(x:number, f:float, s:symbol)
    b(x, f, "s") :- a(x, f).
    b(x + 1, f, s) :- b(x, f, s), x < 100."""
    on_host = gpulog.run(text, a=[(0, 0.5)], backend="cpu")["b"]
    assert on_host.device_column("x") is None
    with pytest.raises(gpulog.InputError, match="no column of numbers that is named s"):
        on_host.device_column("s")
    if "gpu" not in gpulog.backends():
        return
    try:
        engine = gpulog.run(text, a=[(0, 0.5)], backend="gpu", storage=storage)
    except gpulog.InputError:
        pytest.skip("no device")
    column = engine["b"].device_column("x")
    del engine
    gc.collect()
    assert column is not None
    kind, number = column.__dlpack_device__()
    assert kind in (2, 10, 12) and number == 0  # CUDA, ROCm, and the emulated device
    with pytest.raises((BufferError, RuntimeError, TypeError)):
        numpy.from_dlpack(column)


class Tensor(ctypes.Structure):
    """DLPack's DLManagedTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class ArrayOfDevice:
    """An array of two numbers that claims to be on a device. The address is invalid."""

    def __init__(self, device: int) -> None:
        self.device = device
        self.shape = (ctypes.c_int64 * 1)(2)
        self.tensor = Tensor(0x1000, device, 0, 1, 0, 32, 1, self.shape, None, 0, None, None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)

    def __dlpack__(self, **_: Any) -> object:
        new_capsule = ctypes.pythonapi.PyCapsule_New
        new_capsule.restype = ctypes.py_object
        new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)


class ArrayOfCuda:
    """The same with CUDA's array interface."""

    def __init__(self, **changes: Any) -> None:
        described = {"shape": (2,), "typestr": "<i4", "data": (0x1000, True), "version": 3, "stream": None}
        self.__cuda_array_interface__ = {**described, **changes}


def is_for_cuda() -> bool:
    try:
        gpulog.Engine(".decl a(x:number)", backend="cuda")
    except gpulog.InputError:
        return False
    return True


@pytest.mark.skipif(is_for_cuda(), reason="this build reads the memory of CUDA's devices")
def test_arrays_of_devices_that_this_build_is_not_for() -> None:
    engine = gpulog.Engine(".decl a(x:number, y:number)\n.decl one(x:number)")
    here = numpy.arange(2)
    for array in (ArrayOfDevice(CUDA), ArrayOfCuda()):
        message = "attribute y of relation a: an array is in the memory of a device of cuda, .*: copy it to the host"
        for facts in ({"x": here, "y": array}, {"y": array, "x": array}):
            with pytest.raises(gpulog.InputError, match=message.replace("attribute y", "attribute [xy]")):
                engine["a"].insert(facts)
        with pytest.raises(gpulog.InputError, match="attribute x of relation one: .* copy it to the host"):
            engine["one"].insert(array)
    with pytest.raises(gpulog.InputError, match="of a device of the kind 7 of DLPack"):
        engine["one"].insert({"x": ArrayOfDevice(7)})
    assert len(engine["a"]) == len(engine["one"]) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (2, 1)}, "several dimensions"),
        ({"strides": (8,)}, "not contiguous"),
        ({"typestr": ">i4"}, "in another order"),
        ({"typestr": "<c8"}, "neither integers nor floats"),
        ({"mask": ArrayOfDevice(CUDA)}, "has a mask"),
    ],
)
def test_arrays_of_cuda_that_are_refused(changes: dict[str, Any], message: str) -> None:
    engine = gpulog.Engine(".decl a(x:number)")
    with pytest.raises(gpulog.InputError, match="attribute x of relation a: .*" + message):
        engine["a"].insert({"x": ArrayOfCuda(**changes)})
    assert len(engine["a"]) == 0


def test_an_array_that_does_not_come() -> None:
    class Lost(ArrayOfDevice):
        def __dlpack__(self, **_: Any) -> object:
            raise BufferError("this array is gone")

    engine = gpulog.Engine(".decl a(x:number)")
    with pytest.raises((gpulog.InputError, BufferError)):
        engine["a"].insert({"x": Lost(CUDA)})
    assert len(engine["a"]) == 0


@pytest.mark.parametrize("word_size", [32, 64])
def test_columns_of_a_device_are_facts(word_size: int) -> None:
    """Inserts results of a different engine, as an array of any library on the device."""
    if "gpu" not in gpulog.backends():
        return
    text = """.decl a(x:number, u:unsigned, f:float)
    .decl b(x:number, u:unsigned, f:float)
    b(x, u, f) :- a(x, u, f).
    b(x + 1, u, f) :- b(x, u, f), x < 100."""
    try:
        result = gpulog.run(text, a=[(0, 4000000000, 0.5)], backend="gpu")["b"]
    except gpulog.InputError:
        pytest.skip("no device")
    columns = {name: result.device_column(name) for name in "xuf"}
    assert all(column is not None for column in columns.values())
    engine = gpulog.Engine(gpulog.Program(text, word_size=word_size, warn=False))
    engine["a"].insert(columns)
    engine["a"].insert({**columns, "x": numpy.arange(len(result)) + 1000})
    assert len(engine["a"]) == 2 * len(result)
    engine.evaluate()
    assert set(result) <= set(engine["a"])
    with pytest.raises(gpulog.InputError, match="attribute u of relation a .*type unsigned"):
        engine["a"].insert({"x": columns["x"], "u": columns["f"], "f": columns["f"]})


def test_a_machine_without_such_a_device() -> None:
    """Features without a device work; options for a device raise an error."""
    text = ".decl a(x:number)\n.decl b(x:number)\nb(x) :- a(x)."
    for options in ({}, {"backend": "auto"}, {"backend": "cpu"}):
        assert gpulog.run(text, a=[1], **options)["b"].fetchall() == [(1,)]
    with pytest.raises(gpulog.InputError, match="no device 99|without a GPU backend|no .* device was found"):
        gpulog.Engine(text, backend="gpu", device=99).evaluate()

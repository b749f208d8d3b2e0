#!/usr/bin/env python3
"""Runs launches.txt on a real GPU, and writes what came out to kernels-h200.bin.gz.

  record.py DIR OUT    DIR holds FILE.ptx for every file that launches.txt names

Needs an NVIDIA driver and nothing else. A file without an entry (older architecture) skips it.
"""
import ctypes, gzip, os, struct, sys

MASK = (1 << 64) - 1
SIZES = dict(i8=1, i16=2, i32=4, i64=8, i128=16, f16=2, bf16=2, f32=4, f64=8, m16=2, n16=2, m32=4, m64=8, c64=8)


def mix(seed):
    """SplitMix64's output for a counter."""
    z = (seed * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def element(kind, i):
    """The bits of element i; LaunchInputs.java has the same."""
    x = mix(i + 1)
    if kind == "i128":
        return x | mix(i + 1000001) << 64
    bits = SIZES[kind] * 8
    few = i % 4 == 3
    if kind[0] == "i":
        return (x % 7 if few else x) & ((1 << bits) - 1)
    if kind == "c64":
        return x & 0x0000000F0000000F
    if kind in ("m32", "m64", "m16", "n16"):
        value = 0.125 * (1 << (x % 6)) * (1 + (x >> 8 & 0x7F) / 128)
        return {
            "m32": lambda: struct.unpack("<I", struct.pack("<f", value))[0],
            "m64": lambda: struct.unpack("<Q", struct.pack("<d", value))[0],
            "m16": lambda: struct.unpack("<H", struct.pack("<e", value))[0],
            "n16": lambda: struct.unpack("<I", struct.pack("<f", value))[0] >> 16,
        }[kind]()
    # Floats of all kinds: a quarter any bits, the rest near one.
    exponent = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[kind]
    bias = {"f16": 15, "bf16": 127, "f32": 127, "f64": 1023}[kind]
    if few:
        return x >> (64 - bits)
    fraction = x & ((1 << exponent) - 1)
    return (x >> 63) << (bits - 1) | (bias - 3 + (x >> 56) % 8) << exponent | fraction


def one(kind, i):
    value = i + 1
    return {
        "f16": lambda: struct.unpack("<H", struct.pack("<e", value))[0],
        "bf16": lambda: struct.unpack("<I", struct.pack("<f", value))[0] >> 16,
        "f32": lambda: struct.unpack("<I", struct.pack("<f", value))[0],
        "f64": lambda: struct.unpack("<Q", struct.pack("<d", value))[0],
    }.get(kind, lambda: value & ((1 << SIZES[kind] * 8) - 1))()


def contents(argument):
    mark = argument[0] if argument[0] in "=~+" else ""
    kind, count = argument[len(mark):].split(":")
    make = element if not mark else one if mark == "+" else lambda kind, i: 0
    return mark, b"".join(make(kind, i).to_bytes(SIZES[kind], "little") for i in range(int(count)))


def main(directory, out):
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        result = getattr(cuda, name)(*arguments)
        if result:
            text = ctypes.c_char_p()
            cuda.cuGetErrorString(result, ctypes.byref(text))
            raise SystemExit(f"{name}: {result} {text.value}")

    call("cuInit", 0)
    context, device = ctypes.c_void_p(), ctypes.c_int()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    results, modules = b"", {}
    plan = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launches.txt")
    for line in open(plan):
        if line.startswith("#"):
            continue
        file, entry, blocks, threads, shared, *arguments = line.split()
        if file not in modules:
            modules[file] = ctypes.c_void_p()
            text = open(os.path.join(directory, file + ".ptx"), "rb").read() + b"\0"
            call("cuModuleLoadData", ctypes.byref(modules[file]), text)
        function = ctypes.c_void_p()
        call("cuModuleGetFunction", ctypes.byref(function), modules[file], entry.encode())
        values, buffers = [], []
        for argument in arguments:
            if argument[0] == "#":
                values.append(ctypes.c_int(int(argument[1:])))
                continue
            mark, data = contents(argument)
            pointer = ctypes.c_uint64()
            call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(len(data)))
            call("cuMemcpyHtoD_v2", pointer, data, ctypes.c_size_t(len(data)))
            values.append(pointer)
            buffers.append((mark, pointer, len(data)))
        array = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        launch = "cuLaunchCooperativeKernel" if shared.endswith("c") else "cuLaunchKernel"
        extra = [] if shared.endswith("c") else [None]
        call(launch, function, int(blocks), 1, 1, int(threads), 1, 1, int(shared.rstrip("c")), None, array, *extra)
        call("cuCtxSynchronize")
        for mark, pointer, size in buffers:
            if mark:
                back = ctypes.create_string_buffer(size)
                call("cuMemcpyDtoH_v2", back, pointer, ctypes.c_size_t(size))
                results += back.raw
            call("cuMemFree_v2", pointer)
    with open(out, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        file.write(results)
    print(len(results), "bytes of results")


main(sys.argv[1], sys.argv[2])

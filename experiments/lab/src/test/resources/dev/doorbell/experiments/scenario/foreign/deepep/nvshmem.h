// A stand-in, for tests: the structures are those of the stand-in for NVSHMEM.
#pragma once
#include <non_abi/device/pt-to-pt/ibgda_device.cuh>

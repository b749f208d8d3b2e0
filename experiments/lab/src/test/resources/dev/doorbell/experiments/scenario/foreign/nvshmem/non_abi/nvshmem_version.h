// A stand-in for a generated header of NVSHMEM, for tests.
#pragma once
#define NVSHMEM_VENDOR_MAJOR_VERSION 9
#define NVSHMEM_VENDOR_MINOR_VERSION 8
#define NVSHMEM_VENDOR_PATCH_VERSION 7

// A stand-in for the header of NCCL, for tests. Nothing of it is the library's code.
#pragma once
#define NCCL_MAJOR 9
#define NCCL_MINOR 8
#define NCCL_PATCH 7

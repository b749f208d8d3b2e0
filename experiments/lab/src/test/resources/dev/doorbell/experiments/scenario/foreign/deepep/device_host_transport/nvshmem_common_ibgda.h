// A stand-in, for tests: nvshmem.h has it all.
#pragma once

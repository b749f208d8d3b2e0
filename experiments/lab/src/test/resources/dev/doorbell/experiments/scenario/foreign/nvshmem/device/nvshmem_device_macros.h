// A stand-in for a header of NVSHMEM, for tests. Nothing of it is the library's code.
#pragma once

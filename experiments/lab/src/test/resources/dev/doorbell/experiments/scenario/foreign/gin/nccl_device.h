// A stand-in for the header of NCCL's device API, for tests.
#pragma once

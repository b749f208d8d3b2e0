// What the benches share: calls that must succeed, and memory that the GPU sees.
#ifndef DOORBELL_BENCH_DEVICE_MEMORY_CUH
#define DOORBELL_BENCH_DEVICE_MEMORY_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

namespace bench {

inline void check(cudaError_t result, const char *what) {
  if (result != cudaSuccess) {
    fprintf(stderr, "bench: %s: %s\n", what, cudaGetErrorString(result));
    _exit(1);
  }
}

// Memory that lives as long as the program: host memory that the GPU sees, or GPU memory.
class memory {
 public:
  memory(uint64_t bytes, bool gpu) : bytes_(bytes), gpu_(gpu) {
    if (gpu) {
      check(cudaMalloc(&pointer_, bytes), "cudaMalloc");
    } else {
      check(cudaHostAlloc(&pointer_, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
            "cudaHostAlloc");
    }
  }

  uint64_t address() const { return reinterpret_cast<uint64_t>(pointer_); }
  uint8_t *host() const { return static_cast<uint8_t *>(pointer_); }  // of host memory

  void fill(uint8_t value) {
    if (gpu_) {
      check(cudaMemset(pointer_, value, bytes_), "cudaMemset");
    } else {
      memset(pointer_, value, bytes_);
    }
  }

  void put(uint64_t offset, const void *from, uint64_t bytes) {
    if (gpu_) {
      check(cudaMemcpy(host() + offset, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    } else {
      memcpy(host() + offset, from, bytes);
    }
  }

  void get(void *to, uint64_t bytes) const { get(to, 0, bytes); }

  void get(void *to, uint64_t offset, uint64_t bytes) const {
    const uint8_t *from = static_cast<const uint8_t *>(pointer_) + offset;
    if (gpu_) {
      check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    } else {
      memcpy(to, from, bytes);
    }
  }

 private:
  uint64_t bytes_;
  bool gpu_;
  void *pointer_ = nullptr;
};

}  // namespace bench

#endif  // DOORBELL_BENCH_DEVICE_MEMORY_CUH

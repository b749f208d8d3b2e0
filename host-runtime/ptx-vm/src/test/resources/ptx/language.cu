// What CUDA C++ offers besides arithmetic: calls, recursion, tables of functions, structures by
// value, constants, shared and local memory, printf, assert.
#include <cassert>
#include <cstdint>
#include <cstdio>

struct pair { uint64_t a; uint32_t b; uint16_t c; };

__device__ __noinline__ pair twist(pair p) {
  pair q;
  q.a = p.a * 3 + p.b;
  q.b = p.b ^ p.c;
  q.c = (uint16_t)(p.c + 1);
  return q;
}

extern "C" __global__ void structures(pair p, uint64_t* out) {
  pair q = twist(p);
  q = twist(q);
  out[0] = q.a;
  out[1] = q.b;
  out[2] = q.c;
}

__device__ __noinline__ uint32_t fibonacci(uint32_t n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursion(uint32_t n, uint32_t* out) {
  out[threadIdx.x] = fibonacci(n + threadIdx.x);
}

__device__ __noinline__ uint32_t forever(uint32_t n) { return n == 0xffffffff ? n : forever(n + 1) * 3 + n; }

extern "C" __global__ void endless(uint32_t* out) { out[0] = forever(0); }

__device__ __noinline__ uint32_t twice(uint32_t x) { return 2 * x; }
__device__ __noinline__ uint32_t square(uint32_t x) { return x * x; }
__device__ __noinline__ uint32_t minus(uint32_t x) { return -x; }
typedef uint32_t (*function)(uint32_t);
__device__ function table[3] = {twice, square, minus};

extern "C" __global__ void pointers(uint32_t* out) {
  out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x);
}

__constant__ uint32_t weights[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
__device__ uint32_t counter = 41;
__device__ const char text[] = "device text";

extern "C" __global__ void constants(uint32_t* out) {
  out[threadIdx.x] = weights[threadIdx.x & 7] + text[threadIdx.x % 11];
  if (threadIdx.x == 0) counter++;
}

extern "C" __global__ void block_sum(const uint32_t* in, uint32_t* out) {
  extern __shared__ uint32_t partial[];
  __shared__ uint32_t total;
  if (threadIdx.x == 0) total = 0;
  uint32_t x = in[blockIdx.x * blockDim.x + threadIdx.x];
  partial[threadIdx.x] = x;
  __syncthreads();
  atomicAdd(&total, x);
  for (uint32_t s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[2 * blockIdx.x] = partial[0];
    out[2 * blockIdx.x + 1] = total;
  }
}

extern "C" __global__ void locals(const uint32_t* in, uint32_t* out) {
  uint32_t own[16];
  for (int i = 0; i < 16; i++) own[i] = in[(threadIdx.x * 7 + i) & 15] + threadIdx.x;
  uint32_t at = in[threadIdx.x & 15];
  uint32_t sum = 0;
  for (int i = 0; i < 16; i++) {
    own[(at + i) & 15] += own[(at * 3 + i) & 15];
    sum = sum * 31 + own[at & 15];
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void prints(int n, const char* unused) {
  if (threadIdx.x == 0) {
    printf("n=%d %5d|%-5d|%05d %u %x %lld %s %c %%\n", n, n, n, n, -1, 255, -5000000000ll, "hello", 'z');
    printf("%f %.3f %e %g %g\n", 1.5, 2.0 / 3, 12345.678, 0.0001, 1e10);
  }
}

extern "C" __global__ void asserts(int n) { assert(n > 0 && "n is positive"); }

extern "C" __global__ void switches(const uint32_t* in, uint32_t* out) {
  uint32_t x = in[threadIdx.x], y;
  switch (x % 9) {
    case 0: y = x * 3; break;
    case 1: y = x ^ 0x55; break;
    case 2: y = x + 77; break;
    case 3: y = x / 5; break;
    case 4: y = __popc(x); break;
    case 5: y = __clz(x); break;
    case 6: y = __brev(x); break;
    default: y = 0; break;
  }
  out[threadIdx.x] = y;
}

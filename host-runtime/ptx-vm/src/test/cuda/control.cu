// Control flow: virtual calls, tables of functions, recursion, switches, early exits, alloca, lambdas.
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct shape { __device__ virtual uint32_t area() const = 0; __device__ virtual ~shape() {} };
struct square : shape { uint32_t a; __device__ explicit square(uint32_t x) : a(x) {} __device__ uint32_t area() const override { return a * a; } };
struct oblong : shape { uint32_t a, b; __device__ oblong(uint32_t x, uint32_t y) : a(x), b(y) {} __device__ uint32_t area() const override { return a * b; } };

extern "C" __global__ void virtuals(uint32_t* out) {
  square s(threadIdx.x);
  oblong o(threadIdx.x, 3);
  const shape* which = threadIdx.x % 2 ? (const shape*)&s : (const shape*)&o;
  out[threadIdx.x] = which->area();
}

__device__ __noinline__ uint32_t ackermann(uint32_t m, uint32_t n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void recursion(uint32_t* out) { out[threadIdx.x] = ackermann(2, threadIdx.x % 3); }

struct big { uint64_t a[5]; float f; uint8_t t[3]; };
__device__ __noinline__ big turn(big b, int by) { for (int i = 0; i < 5; i++) b.a[i] += by; b.f *= 2; b.t[1] ^= 0xff; return b; }
extern "C" __global__ void structures(const big* in, big* out) { out[threadIdx.x] = turn(turn(in[threadIdx.x], 1), threadIdx.x); }

typedef float (*operation)(float, float);
__device__ float plus(float a, float b) { return a + b; }
__device__ float times(float a, float b) { return a * b; }
__device__ operation operations[2] = {plus, times};
extern "C" __global__ void tables(const float* in, float* out) { out[threadIdx.x] = operations[threadIdx.x & 1](in[threadIdx.x], 3); }

extern "C" __global__ void switches(const uint32_t* in, uint32_t* out) {
  uint32_t x = in[threadIdx.x], y = 0;
  for (uint32_t i = 0; i < x % 40; i++) {
    switch ((x + i) % 13) {
      case 0: y += 3; break;
      case 1: y ^= x; break;
      case 2: y = y * 5 + 1; break;
      case 3: y -= i; continue;
      case 4: y |= 8; break;
      case 5: y = __brev(y); break;
      case 6: y += x / 3; break;
      case 7: if (y & 1) { goto out; } break;
      case 8: y = ~y; break;
      case 11: y <<= 1; break;
      default: y++; break;
    }
  }
out:
  out[threadIdx.x] = y;
}

extern "C" __global__ void exits(uint32_t* out) {
  if (threadIdx.x % 4 == 1) return;
  if (threadIdx.x % 4 == 2) asm volatile("exit;");
  out[threadIdx.x] = 1;
}

extern "C" __global__ void bytes(const char* in, char* out, int n) {
  char own[128];
  memset(own, 7, sizeof own);
  memcpy(own + 3, in, 40);
  for (int i = 0; i < 128; i++) out[threadIdx.x * 128 + i] = own[(i * n) & 127];
}

extern "C" __global__ void prints(int n) {
  printf("%d %s %c %5.2f %llx %p\n", n, "words", 'c', n * 0.5, (unsigned long long)n << 33, (void*)0);
}
extern "C" __global__ void asserts(int n) { assert(n == 1); }
extern "C" __global__ void traps(int n) { if (n == 1) __trap(); else if (n == 2) __brkpt(); }

extern "C" __global__ void specials(uint64_t* out) {
  uint32_t smid, nsmid, warpid, nwarpid, grid, dynamic, total;
  asm("mov.u32 %0, %smid; mov.u32 %1, %nsmid; mov.u32 %2, %warpid; mov.u32 %3, %nwarpid;" : "=r"(smid), "=r"(nsmid), "=r"(warpid), "=r"(nwarpid));
  asm("mov.u32 %0, %dynamic_smem_size; mov.u32 %1, %total_smem_size;" : "=r"(dynamic), "=r"(total));
  uint64_t start = clock64(), time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  __nanosleep(20);
  out[0] = smid < nsmid; out[1] = warpid + nwarpid; out[2] = dynamic; out[3] = total; out[4] = clock64() > start; out[5] = clock() != 0; out[6] = time != 0; out[7] = threadIdx.x + blockDim.y + gridDim.z + blockIdx.x;
}

// Loads, stores and atomics of all widths, vectors, cache hints, scopes and orders.
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>

template <typename T> __device__ void copy(const void* in, void* out, int& at) {
  const T* from = (const T*)((const char*)in + threadIdx.x * 64);
  T* to = (T*)((char*)out + at + threadIdx.x * 64);
  *to = *from;
  at += 64 * 32;
}

// 15 copies of 64 bytes a thread.
extern "C" __global__ void vectors(const void* in, void* out) {
  int at = 0;
  copy<char2>(in, out, at); copy<char4>(in, out, at); copy<uchar4>(in, out, at);
  copy<short2>(in, out, at); copy<ushort4>(in, out, at); copy<int2>(in, out, at);
  copy<int4>(in, out, at); copy<uint4>(in, out, at); copy<longlong2>(in, out, at);
  copy<float2>(in, out, at); copy<float4>(in, out, at); copy<double2>(in, out, at);
  copy<unsigned __int128>(in, out, at); copy<__half2>(in, out, at); copy<int3>(in, out, at);
}

extern "C" __global__ void hints(const uint4* in, uint4* out) {
  uint4 a = __ldg(in + threadIdx.x), b = __ldcg(in + threadIdx.x), c = __ldca(in + threadIdx.x);
  uint4 d = __ldcs(in + threadIdx.x), e = __ldlu(in + threadIdx.x), f = __ldcv(in + threadIdx.x);
  __stwb(out + threadIdx.x * 4, make_uint4(a.x + b.x, c.y, d.z, e.w + f.w));
  __stcg(out + threadIdx.x * 4 + 1, a); __stcs(out + threadIdx.x * 4 + 2, b);
  __stwt(out + threadIdx.x * 4 + 3, c);
}

extern "C" __global__ void volatiles(volatile uint64_t* p, volatile uint16_t* q, volatile uint8_t* r) {
  __shared__ volatile uint32_t s[32];
  s[threadIdx.x] = threadIdx.x;
  p[threadIdx.x] = p[threadIdx.x] + s[threadIdx.x]; q[threadIdx.x] = q[threadIdx.x] + 1;
  r[threadIdx.x] = r[threadIdx.x] + 1;
}

extern "C" __global__ void legacy_atomics(uint32_t* w, unsigned long long* d, float* f, double* r,
                                          uint16_t* h, int* s) {
  __shared__ uint32_t shared[4];
  if (threadIdx.x < 4) shared[threadIdx.x] = 0;
  __syncthreads();
  uint32_t i = threadIdx.x;
  atomicAdd(w, i); atomicSub(w + 1, i); atomicExch(w + 2, 77); atomicMin(w + 3, i);
  atomicMax(w + 4, i); atomicInc(w + 5, 20); atomicDec(w + 6, 20); atomicAnd(w + 7, ~(1u << i));
  atomicOr(w + 8, 1u << i); atomicXor(w + 9, i); atomicCAS(w + 10, 0u, 9u);
  atomicAdd_block(w + 11, 2); atomicAdd_system(w + 12, 3); atomicMin(s, -(int)i); atomicMax(s + 1, (int)i);
  atomicAdd(d, (unsigned long long)i); atomicExch(d + 1, 7ull); atomicCAS(d + 2, 0ull, 9ull);
  atomicMin(d + 3, (unsigned long long)i); atomicMax((long long*)d + 4, -(long long)i);
  atomicAnd(d + 5, ~(1ull << i)); atomicOr(d + 6, 1ull << i); atomicXor(d + 7, 1ull << i);
  atomicAdd(f, 1.5f); atomicAdd(r, 0.25); atomicExch(f + 1, 2.5f);
  if (i == 0) { h[1] = atomicCAS(h, (uint16_t)3, (uint16_t)5); }
  atomicAdd(shared, i); atomicMax(shared + 1, i); atomicCAS(shared + 2, 0, 12); atomicOr(shared + 3, i);
  __syncthreads();
  if (i < 2) w[48 + i] = shared[i];
  atomicAdd(w + 13, 1) ;
}

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
extern "C" __global__ void wide_atomics(unsigned __int128* p, float2* f, float4* g, unsigned __int128* out) {
  out[0] = atomicCAS(p, (unsigned __int128)1, (unsigned __int128)2 << 100 | 5);
  out[1] = atomicCAS(p, out[0], (unsigned __int128)3 << 90 | 7);
  out[2] = atomicExch(p, (unsigned __int128)9 << 80);
  float2 two = atomicAdd(f, make_float2(1, 2));
  float4 four = atomicAdd(g, make_float4(1, 2, 3, 4));
  two = atomicAdd(f, make_float2(two.x + 3, four.w));
  out[3] = (unsigned)two.y;
  asm volatile("{ .reg .b128 x, y; ld.global.b128 x, [%0]; mov.b128 y, x; st.global.b128 [%0+16], y; }" ::"l"(p) : "memory");
}
#endif

extern "C" __global__ void half_atomics(__half2* h, __nv_bfloat162* b, __half* g, __nv_bfloat16* c) {
  atomicAdd(h, __floats2half2_rn(1, 2)); atomicAdd(b, __floats2bfloat162_rn(1, 2));
  atomicAdd(g, __float2half(0.5f)); atomicAdd(c, __float2bfloat16(0.5f));
}

template <typename T, cuda::thread_scope S> __device__ T every(T* p, T v) {
  cuda::atomic_ref<T, S> r(*p);
  T x = r.load(cuda::std::memory_order_relaxed);
  x += r.load(cuda::std::memory_order_acquire) + r.load();
  r.store(x, cuda::std::memory_order_relaxed);
  r.store(x, cuda::std::memory_order_release);
  r.store(x);
  x += r.exchange(v, cuda::std::memory_order_acq_rel);
  T expected = v;
  r.compare_exchange_strong(expected, x, cuda::std::memory_order_acquire);
  r.compare_exchange_weak(expected, x);
  x += r.fetch_add(v, cuda::std::memory_order_release) + r.fetch_sub(1) + r.fetch_and(~v);
  x += r.fetch_or(v, cuda::std::memory_order_relaxed) + r.fetch_xor(3) + r.fetch_min(v) + r.fetch_max(x);
  return x;
}

#define EVERY(name, type)                                                                      \
  extern "C" __global__ void name(type* p, type* out) {                                         \
    out[0] = every<type, cuda::thread_scope_system>(p, 5);                                      \
    out[1] = every<type, cuda::thread_scope_device>(p + 1, 6);                                  \
    out[2] = every<type, cuda::thread_scope_block>(p + 2, 7);                                   \
    out[3] = every<type, cuda::thread_scope_thread>(p + 3, 9);                                  \
  }
EVERY(atomics_u8, uint8_t)
EVERY(atomics_u16, uint16_t)
EVERY(atomics_u32, uint32_t)
EVERY(atomics_s32, int32_t)
EVERY(atomics_u64, uint64_t)
EVERY(atomics_s64, int64_t)

extern "C" __global__ void floating_atomics(float* f, double* d) {
  cuda::atomic_ref<float, cuda::thread_scope_device> a(*f);
  cuda::atomic_ref<double, cuda::thread_scope_system> b(*d);
  a.fetch_add(1.0f); b.fetch_add(2.0, cuda::std::memory_order_release); a.fetch_max(3.0f); b.fetch_sub(1.0);
}

extern "C" __global__ void fences(uint32_t* p) {
  p[0] = 1; __threadfence_block(); p[1] = 2; __threadfence(); p[2] = 3; __threadfence_system();
  cuda::atomic_thread_fence(cuda::std::memory_order_acquire, cuda::thread_scope_block);
  cuda::atomic_thread_fence(cuda::std::memory_order_release, cuda::thread_scope_device);
  cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_system);
  cuda::atomic_thread_fence(cuda::std::memory_order_acq_rel, cuda::thread_scope_system);
  p[3] = 4;
}

__device__ uint32_t squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
__device__ uint32_t* middle = squares + 3;
__constant__ double halves[3] = {0.5, 1.5, 2.5};
__device__ struct { char c; short s; float f; const char* t; } mixed = {'x', -2, 1.25f, "text"};
__managed__ int managed = 17;

extern "C" __global__ void initialised(double* out) {
  out[0] = *middle; out[1] = halves[threadIdx.x % 3]; out[2] = mixed.c; out[3] = mixed.s;
  out[4] = mixed.f; out[5] = mixed.t[1]; out[6] = squares[threadIdx.x % 8];
}

extern "C" __global__ void spaces(uint32_t* global, uint32_t* out, int n) {
  __shared__ uint32_t shared[4];
  uint32_t local[4] = {1, 2, 3, 4};
  shared[threadIdx.x & 3] = threadIdx.x;
  __syncthreads();
  uint32_t* any = n == 0 ? global : n == 1 ? shared : local + (n & 1);
  uint32_t* o = out + threadIdx.x * 8;
  o[0] = __isGlobal(any); o[1] = __isShared(any); o[2] = __isLocal(any); o[3] = __isConstant(any);
  o[4] = any[1];
  __syncthreads();
  if (threadIdx.x == 0) any[1] = 5;
  __syncthreads();
  o[5] = local[1] + shared[1];
  o[6] = __cvta_generic_to_shared(shared) < 65536; o[7] = *(uint32_t*)__cvta_shared_to_generic(__cvta_generic_to_shared(shared));
}

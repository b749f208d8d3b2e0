// f16, bf16 and their pairs, f8: operators, intrinsics, conversions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>

template <typename T> __device__ void operators(const T* in, T* out) {
  T a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
  T* o = out + threadIdx.x * 24;
  o[0] = a + b; o[1] = a - b; o[2] = a * b; o[3] = a / b; o[4] = __hfma(a, b, c); o[5] = -a;
  o[6] = __habs(a); o[7] = __hmin(a, b); o[8] = __hmax(a, b); o[9] = __hmin_nan(a, b);
  o[10] = __hmax_nan(a, b); o[11] = __hfma_relu(a, b, c); o[12] = __hadd_sat(a, b);
  o[13] = __hmul_sat(a, b); o[14] = __hfma_sat(a, b, c); o[15] = hsqrt(a); o[16] = hrcp(a);
  o[17] = hexp2(a); o[18] = hlog2(a); o[19] = hrsqrt(a); o[20] = hceil(a); o[21] = hrint(a);
  o[22] = htrunc(a); o[23] = hfloor(a);
}
extern "C" __global__ void operators_f16(const __half* in, __half* out) { operators(in, out); }
// Before compute_80 bf16 is computed in f32.
#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
extern "C" __global__ void operators_bf16(const __nv_bfloat16* in, __nv_bfloat16* out) {
  operators(in, out);
}
#endif
extern "C" __global__ void sums_bf16(const __nv_bfloat16* in, __nv_bfloat16* out) {
  __nv_bfloat16 a = in[threadIdx.x], b = in[threadIdx.x + 32];
  __nv_bfloat16* o = out + threadIdx.x * 6;
  o[0] = a + b; o[1] = a - b; o[2] = a * b; o[3] = a / b; o[4] = -a; o[5] = a < b ? a : b;
}

template <typename T> __device__ void pairs(const T* in, T* out) {
  T a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
  T* o = out + threadIdx.x * 20;
  o[0] = __hadd2(a, b); o[1] = __hsub2(a, b); o[2] = __hmul2(a, b); o[3] = __h2div(a, b);
  o[4] = __hfma2(a, b, c); o[5] = __hneg2(a); o[6] = __habs2(a); o[7] = __hmin2(a, b);
  o[8] = __hmax2(a, b); o[9] = __heq2(a, b); o[10] = __hltu2(a, b); o[11] = __hfma2_relu(a, b, c);
  o[12] = h2trunc(a); o[13] = h2exp2(a); o[14] = h2rcp(a); o[15] = __hadd2_sat(a, b);
  o[16] = __hmin2_nan(a, b); o[17] = __hgt2(a, b); o[18] = __hne2(a, b); o[19] = h2log2(a);
}
extern "C" __global__ void pairs_f16(const __half2* in, __half2* out) { pairs(in, out); }
#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
extern "C" __global__ void pairs_bf16(const __nv_bfloat162* in, __nv_bfloat162* out) {
  pairs(in, out);
}
#endif

extern "C" __global__ void conversions_f16(const __half* in, double* out) {
  __half a = in[threadIdx.x];
  double* o = out + threadIdx.x * 12;
  o[0] = (float)a; o[1] = (double)__half2float(a); o[2] = (int)a; o[3] = (unsigned)a;
  o[4] = __half2short_rn(a); o[5] = __half2ll_rd(a); o[6] = __half2ull_ru(a); o[7] = a > __half(0);
  o[8] = (float)__int2half_rz((int)(float)a * 3); o[9] = (float)__double2half((double)(float)a / 3);
  o[10] = (float)__float2half_rd((float)a / 7); o[11] = (float)__ull2half_rn(12345);
}
extern "C" __global__ void conversions_bf16(const __nv_bfloat16* in, double* out) {
  __nv_bfloat16 a = in[threadIdx.x];
  double* o = out + threadIdx.x * 12;
  o[0] = (float)a; o[1] = (double)__bfloat162float(a); o[2] = (int)a; o[3] = (unsigned)a;
  o[4] = __bfloat162short_rn(a); o[5] = __bfloat162ll_rd(a); o[6] = __bfloat162ull_ru(a);
  o[7] = a > __nv_bfloat16(0.0f); o[8] = (float)__int2bfloat16_rz((int)(float)a * 3);
  o[9] = (float)__double2bfloat16((double)(float)a / 3);
  o[10] = (float)__float2bfloat16_rz((float)a / 7); o[11] = (float)__ull2bfloat16_rn(12345);
}

extern "C" __global__ void narrow(const float2* in, uint32_t* out) {
  float2 a = in[threadIdx.x];
  uint32_t* o = out + threadIdx.x * 8;
  __half2 h = __float22half2_rn(a);
  __nv_bfloat162 b = __float22bfloat162_rn(a);
  o[0] = *(uint32_t*)&h; o[1] = *(uint32_t*)&b;
  o[2] = __nv_cvt_float2_to_fp8x2(a, __NV_SATFINITE, __NV_E4M3);
  o[3] = __nv_cvt_float2_to_fp8x2(a, __NV_SATFINITE, __NV_E5M2);
  __half2_raw wide = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)o[2], __NV_E4M3);
  o[4] = *(uint32_t*)&wide;
  wide = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)o[3], __NV_E5M2);
  o[5] = *(uint32_t*)&wide;
  o[6] = __nv_cvt_halfraw2_to_fp8x2((__half2_raw)h, __NV_SATFINITE, __NV_E4M3);
  o[7] = (uint32_t)(float)__nv_fp8_e4m3(a.x);
}

// f32 and f64: operators, roundings, conversions, the mathematics library.
#include <cmath>
#include <cstdint>

template <typename T> __device__ void operators(const T* in, T* out) {
  T a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
  T* o = out + threadIdx.x * 16;
  o[0] = a + b; o[1] = a - b; o[2] = a * b; o[3] = a / b; o[4] = a * b + c; o[5] = -a;
  o[6] = fabs(a); o[7] = fmin(a, b); o[8] = fmax(a, c); o[9] = sqrt(a); o[10] = a < b;
  o[11] = a != b; o[12] = isnan(a) || isinf(b); o[13] = copysign(a, b); o[14] = trunc(a) + rint(b);
  o[15] = ceil(a) - floor(b) + round(c);
}

extern "C" __global__ void operators_f32(const float* in, float* out) { operators<float>(in, out); }
extern "C" __global__ void operators_f64(const double* in, double* out) { operators<double>(in, out); }

#define ROUNDED(prefix, type, suffix, o)                                                        \
  o[0] = prefix##add_##suffix(a, b); o[1] = prefix##sub_##suffix(a, b);                          \
  o[2] = prefix##mul_##suffix(a, b); o[3] = prefix##div_##suffix(a, b);                          \
  o[4] = prefix##rcp_##suffix(a); o[5] = prefix##sqrt_##suffix(fabs(a)); o += 6;

extern "C" __global__ void rounded_f32(const float* in, float* out) {
  float a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
  float* o = out + threadIdx.x * 32;
  ROUNDED(__f, float, rn, o) ROUNDED(__f, float, rz, o) ROUNDED(__f, float, rd, o)
  ROUNDED(__f, float, ru, o)
  o[0] = __fmaf_rn(a, b, c); o[1] = __fmaf_rz(a, b, c); o[2] = __fmaf_rd(a, b, c);
  o[3] = __fmaf_ru(a, b, c); o[4] = __saturatef(a); o[5] = __frsqrt_rn(fabsf(a));
  o[6] = __fadd_rn(a, 1.0f); o[7] = fdimf(a, b);
}

extern "C" __global__ void rounded_f64(const double* in, double* out) {
  double a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
  double* o = out + threadIdx.x * 28;
  ROUNDED(__d, double, rn, o) ROUNDED(__d, double, rz, o) ROUNDED(__d, double, rd, o)
  ROUNDED(__d, double, ru, o)
  o[0] = __fma_rn(a, b, c); o[1] = __fma_rz(a, b, c); o[2] = __fma_rd(a, b, c);
  o[3] = __fma_ru(a, b, c);
}

extern "C" __global__ void approximate(const float* in, float* out) {
  float a = in[threadIdx.x], b = in[threadIdx.x + 32];
  float* o = out + threadIdx.x * 12;
  o[0] = __sinf(a); o[1] = __cosf(a); o[2] = __tanf(a); o[3] = __expf(a); o[4] = __exp10f(a);
  o[5] = __logf(a); o[6] = __log2f(a); o[7] = __log10f(a); o[8] = __powf(a, b);
  o[9] = __fdividef(a, b); o[10] = rsqrtf(a); o[11] = exp2f(a);
}

extern "C" __global__ void library_f32(const float* in, float* out) {
  float a = in[threadIdx.x], b = in[threadIdx.x + 32];
  float* o = out + threadIdx.x * 24;
  int e;
  o[0] = sinf(a); o[1] = cosf(a); o[2] = tanf(a); o[3] = expf(a); o[4] = logf(a); o[5] = powf(a, b);
  o[6] = tanhf(a); o[7] = atan2f(a, b); o[8] = asinf(a); o[9] = erff(a); o[10] = cbrtf(a);
  o[11] = log1pf(a); o[12] = expm1f(a); o[13] = fmodf(a, b); o[14] = remainderf(a, b);
  o[15] = hypotf(a, b); o[16] = frexpf(a, &e); o[17] = e; o[18] = ldexpf(a, 3);
  o[19] = nextafterf(a, b); o[20] = lgammaf(a); o[21] = sinhf(a); o[22] = rnorm3df(a, b, a);
  o[23] = ilogbf(a);
}

extern "C" __global__ void library_f64(const double* in, double* out) {
  double a = in[threadIdx.x], b = in[threadIdx.x + 32];
  double* o = out + threadIdx.x * 20;
  int e;
  o[0] = sin(a); o[1] = cos(a); o[2] = tan(a); o[3] = exp(a); o[4] = log(a); o[5] = pow(a, b);
  o[6] = tanh(a); o[7] = atan2(a, b); o[8] = asin(a); o[9] = erf(a); o[10] = cbrt(a);
  o[11] = log1p(a); o[12] = expm1(a); o[13] = fmod(a, b); o[14] = remainder(a, b);
  o[15] = hypot(a, b); o[16] = frexp(a, &e); o[17] = e; o[18] = rsqrt(a); o[19] = lgamma(a);
}

template <typename T> __device__ void conversions(const T* in, int64_t* out) {
  T a = in[threadIdx.x];
  int64_t* o = out + threadIdx.x * 16;
  o[0] = (int8_t)(int)a; o[1] = (uint8_t)(int)a; o[2] = (int16_t)a; o[3] = (uint16_t)a;
  o[4] = (int32_t)a; o[5] = (uint32_t)a; o[6] = (int64_t)a; o[7] = (uint64_t)a;
  o[8] = lrint(a); o[9] = llround(a); o[10] = (int64_t)floor(a); o[11] = (int64_t)(float)a;
  o[12] = (int64_t)(double)a; o[13] = (bool)a; o[14] = (a > T(0)); o[15] = (int)ceil(a);
}
extern "C" __global__ void conversions_f32(const float* in, int64_t* out) { conversions<float>(in, out); }
extern "C" __global__ void conversions_f64(const double* in, int64_t* out) { conversions<double>(in, out); }

extern "C" __global__ void from_integers(const int64_t* in, double* out) {
  int64_t a = in[threadIdx.x];
  double* o = out + threadIdx.x * 20;
  o[0] = (int8_t)a; o[1] = (float)(int8_t)a; o[2] = (uint16_t)a; o[3] = (float)(uint16_t)a;
  o[4] = (int32_t)a; o[5] = (float)(int32_t)a; o[6] = (uint32_t)a; o[7] = (float)(uint32_t)a;
  o[8] = a; o[9] = (float)a; o[10] = (uint64_t)a; o[11] = (float)(uint64_t)a;
  o[12] = __int2float_rz((int)a); o[13] = __uint2float_ru((unsigned)a); o[14] = __ll2float_rd(a);
  o[15] = __ull2double_rz(a); o[16] = __double2float_rz((double)a); o[17] = __int_as_float((int)a);
  o[18] = __hiloint2double((int)a, (int)(a >> 32)); o[19] = __double2hiint((double)a);
}

// Everything that CUDA C++ has for integers: operators of all widths, 128 bits, and intrinsics.
#include <cstdint>

template <typename T> __device__ void operators(const T* in, T* out) {
  T a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
  T s = b & (sizeof(T) * 8 - 1);
  T d = b == 0 ? T(1) : b;
  T* o = out + threadIdx.x * 20;
  o[0] = a + b; o[1] = a - b; o[2] = a * b; o[3] = a / d; o[4] = a % d;
  o[5] = a & b; o[6] = a | b; o[7] = a ^ b; o[8] = ~a; o[9] = a << s; o[10] = a >> s;
  o[11] = a < b; o[12] = a >= c; o[13] = a == b ? b : c; o[14] = -a; o[15] = a * b + c;
  o[16] = a < b ? a : b; o[17] = a > c ? a : c; o[18] = !a; o[19] = T(a - b) > c && b != c;
}

#define OPERATORS(name, type) \
  extern "C" __global__ void name(const type* in, type* out) { operators<type>(in, out); }
OPERATORS(operators_u8, uint8_t)
OPERATORS(operators_s8, int8_t)
OPERATORS(operators_u16, uint16_t)
OPERATORS(operators_s16, int16_t)
OPERATORS(operators_u32, uint32_t)
OPERATORS(operators_s32, int32_t)
OPERATORS(operators_u64, uint64_t)
OPERATORS(operators_s64, int64_t)
OPERATORS(operators_u128, unsigned __int128)
OPERATORS(operators_s128, __int128)

// 32 results a thread.
extern "C" __global__ void intrinsics(const uint32_t* in, uint32_t* out) {
  uint32_t a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
  uint64_t w = (uint64_t)a << 32 | b, v = (uint64_t)b << 32 | c;
  uint32_t* o = out + threadIdx.x * 32;
  o[0] = __brev(a); o[1] = __clz(a); o[2] = __ffs(a); o[3] = __popc(a);
  o[4] = __byte_perm(a, b, c); o[5] = __funnelshift_l(a, b, c); o[6] = __funnelshift_r(a, b, c);
  o[7] = __funnelshift_lc(a, b, c & 63); o[8] = __funnelshift_rc(a, b, c & 63);
  o[9] = __mulhi((int)a, (int)b); o[10] = __umulhi(a, b); o[11] = __mul24((int)a, (int)b);
  o[12] = __umul24(a, b); o[13] = __sad((int)a, (int)b, c); o[14] = __usad(a, b, c);
  o[15] = __hadd((int)a, (int)b); o[16] = __rhadd((int)a, (int)b); o[17] = __uhadd(a, b);
  o[18] = __urhadd(a, b); o[19] = __dp4a((int)a, (int)b, (int)c); o[20] = __dp4a(a, b, c);
  o[21] = __dp2a_lo((int)a, (int)b, (int)c); o[22] = __dp2a_hi(a, b, c);
  o[23] = (uint32_t)__brevll(w); o[24] = __clzll(w); o[25] = __ffsll(w); o[26] = __popcll(w);
  o[27] = (uint32_t)__mul64hi(w, v); o[28] = (uint32_t)__umul64hi(w, v);
  o[29] = __fns(a, 0, 3); o[30] = abs((int)a); o[31] = (uint32_t)llabs((long long)w);
}

// 32 results a thread: two halfwords or four bytes in a word.
extern "C" __global__ void packed(const uint32_t* in, uint32_t* out) {
  uint32_t a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
  uint32_t* o = out + threadIdx.x * 32;
  o[0] = __vadd2(a, b); o[1] = __vadd4(a, b); o[2] = __vaddss2(a, b); o[3] = __vaddus4(a, b);
  o[4] = __vsub2(a, b); o[5] = __vsub4(a, b); o[6] = __vsubss4(a, b); o[7] = __vsubus2(a, b);
  o[8] = __vabs2(a); o[9] = __vabs4(a); o[10] = __vneg2(a); o[11] = __vnegss4(a);
  o[12] = __vmaxs2(a, b); o[13] = __vmaxu4(a, b); o[14] = __vmins4(a, b); o[15] = __vminu2(a, b);
  o[16] = __vavgu4(a, b); o[17] = __vavgs2(a, b); o[18] = __vabsdiffu4(a, b);
  o[19] = __vabsdiffs2(a, b); o[20] = __vsadu4(a, b); o[21] = __vsads2(a, b);
  o[22] = __vcmpeq2(a, b); o[23] = __vcmpgts4(a, b); o[24] = __vcmpltu2(a, b);
  o[25] = __vseteq4(a, b); o[26] = __vsetgtu2(a, b); o[27] = __vhaddu4(a, b);
  o[28] = __vimax3_s32((int)a, (int)b, (int)c); o[29] = __vimin_s32_relu((int)a, (int)b);
  o[30] = __viaddmax_s32((int)a, (int)b, (int)c); o[31] = __vimax3_u16x2(a, b, c);
}

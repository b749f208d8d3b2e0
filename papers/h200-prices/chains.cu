// What instructions of one thread cost that wait for each other: cycles of 64 of them in a row, each on the result of
// the one before ("chain"), in four chains side by side ("four"), or with a jump, a call or a decision in between.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o chains chains.cu
//   ./chains > chains.csv
//
// Columns: what, cycles an instruction in the median of 2,000 rounds, of the fastest and of the slowest 5 %. The clock's
// own cycles are taken off.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const cudaError_t error = (call);                                                   \
    if (error != cudaSuccess) {                                                         \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error)); \
      exit(1);                                                                          \
    }                                                                                   \
  } while (0)

constexpr int kRounds = 2000, kWarmUp = 100, kLength = 64;

__device__ __forceinline__ uint64_t clock_now() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

struct state {
  uint32_t a[4];
  uint64_t w[4];
  uint32_t x, y;
  uint64_t z;
  uint64_t *memory;
};

__device__ __noinline__ void called_empty(uint32_t &a) { asm volatile("add.u32 %0, %0, 1;" : "+r"(a)); }

__device__ __noinline__ uint64_t called_many(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint32_t f,
                                             uint32_t g, uint32_t h) {
  asm volatile("add.u64 %0, %0, %1;" : "+l"(a) : "l"(b));
  asm volatile("add.u64 %0, %0, %1;" : "+l"(c) : "l"(d));
  asm volatile("add.u32 %0, %0, %1;" : "+r"(f) : "r"(g));
  return a ^ c ^ e ^ f ^ h;
}

#define EACH(name, text) \
  struct name {          \
    static constexpr const char *kName = text; \
    static __device__ __forceinline__ void step(state &s, int i) {
#define END \
  }         \
  }

EACH(nothing, "nothing") END;
EACH(add32_chain, "add.u32, chain") asm volatile("add.u32 %0, %0, %1;" : "+r"(s.a[0]) : "r"(s.x)); END;
EACH(add32_four, "add.u32, four") asm volatile("add.u32 %0, %0, %1;" : "+r"(s.a[i & 3]) : "r"(s.x)); END;
EACH(add64_chain, "add.u64, chain") asm volatile("add.u64 %0, %0, %1;" : "+l"(s.w[0]) : "l"(s.z)); END;
EACH(add64_four, "add.u64, four") asm volatile("add.u64 %0, %0, %1;" : "+l"(s.w[i & 3]) : "l"(s.z)); END;
EACH(shl64_chain, "shl.b64 shr.u64, chain")
  if (i & 1) asm volatile("shl.b64 %0, %0, 3;" : "+l"(s.w[0]));
  else asm volatile("shr.u64 %0, %0, 2;" : "+l"(s.w[0]));
END;
EACH(prmt_chain, "prmt.b32, chain") asm volatile("prmt.b32 %0, %0, %1, 0x0123;" : "+r"(s.a[0]) : "r"(s.x)); END;
EACH(mad_chain, "mad.lo.u32, chain") asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(s.a[0]) : "r"(s.x)); END;
EACH(madwide_chain, "mad.wide.u32, chain")
  asm volatile("{ .reg .u32 t; cvt.u32.u64 t, %0; mad.wide.u32 %0, t, %1, %0; }" : "+l"(s.w[0]) : "r"(s.x));
END;
EACH(select_chain, "setp.lt.u32 and selp.b32, chain")
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %0, %1; selp.b32 %0, %2, %1, p; }" : "+r"(s.a[0]) : "r"(s.x), "r"(s.y));
END;
EACH(select64_chain, "setp.lt.u64 and selp.b64, chain")
  asm volatile("{ .reg .pred p; setp.lt.u64 p, %0, %1; selp.b64 %0, %1, %0, p; }" : "+l"(s.w[0]) : "l"(s.z));
END;
EACH(guarded_chain, "setp.lt.u32 and guarded add.u32, chain")
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %0, %1; @p add.u32 %0, %0, %2; }" : "+r"(s.a[0]) : "r"(s.x), "r"(s.y));
END;
EACH(popc_chain, "popc.b32, chain") asm volatile("popc.b32 %0, %0;" : "+r"(s.a[0])); END;
EACH(timer_used, "read of %globaltimer and add.u64 of it, chain")
  uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  asm volatile("add.u64 %0, %0, %1;" : "+l"(s.w[0]) : "l"(t));
END;
EACH(clock_used, "read of %clock64 and add.u64 of it, chain")
  uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  asm volatile("add.u64 %0, %0, %1;" : "+l"(s.w[0]) : "l"(t));
END;
EACH(atomic, "atom.relaxed.gpu.add.u64, chain")
  asm volatile("atom.relaxed.gpu.add.u64 %0, [%1], %0;" : "+l"(s.w[0]) : "l"(s.memory + 32) : "memory");
END;
EACH(atomic32, "atom.relaxed.gpu.exch.b32, chain")
  asm volatile("atom.relaxed.gpu.exch.b32 %0, [%1], %0;" : "+r"(s.a[0]) : "l"(s.memory + 32) : "memory");
END;
EACH(atomic_acquire, "atom.acquire.gpu.exch.b64, chain")
  asm volatile("atom.acquire.gpu.exch.b64 %0, [%1], %0;" : "+l"(s.w[0]) : "l"(s.memory + 32) : "memory");
END;
EACH(cas, "atom.acquire.gpu.cas.b64, chain")
  asm volatile("atom.acquire.gpu.cas.b64 %0, [%1], %0, 7;" : "+l"(s.w[0]) : "l"(s.memory + 32) : "memory");
END;
EACH(release, "st.release.gpu.u64")
  asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(s.memory + 32), "l"(s.z) : "memory");
END;
EACH(jump, "setp.lt.u32, bra not taken, chain")
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %0, %1; @p bra OUT%=; add.u32 %0, %0, %2;\n OUT%=: }"
               : "+r"(s.a[0]) : "r"(0xfffffff0u), "r"(s.y));
END;
EACH(call_empty, "call, 1 argument") called_empty(s.a[0]); END;
EACH(call_many, "call, 8 arguments of 13 registers")
  s.w[0] = called_many(s.w[0], s.w[1], s.w[2], s.w[3], s.z, s.a[0], s.a[1], s.a[2]);
END;

// A branch that is not taken, to code that no predicate replaces.
struct untaken {
  static constexpr const char *kName = "setp, bra not taken";
  static __device__ __forceinline__ void step(state &s, int i) {
    if (s.a[0] == s.x + i) {
      asm volatile("trap;");
    }
    asm volatile("add.u32 %0, %0, %1;" : "+r"(s.a[0]) : "r"(s.y));
  }
};
// A branch that is taken.
struct looped {
  static constexpr const char *kName = "a round of a loop: add, setp, bra";
  static __device__ __forceinline__ void step(state &s, int i) {
    if (i == 0) {
#pragma unroll 1
      for (int k = 0; k < kLength; k++) asm volatile("add.u32 %0, %0, %1;" : "+r"(s.a[0]) : "r"(s.y));
    }
  }
};

template <class Op>
__global__ void run(uint64_t *samples, uint64_t *memory, uint32_t x, uint32_t y, uint64_t z) {
  state s{{x + 1, x + 2, x + 3, x + 4}, {z + 1, z + 2, z + 3, z + 4}, x, y, z, memory};
#pragma unroll 1
  for (int round = 0; round < kRounds + kWarmUp; round++) {
    const uint64_t start = clock_now();
#pragma unroll
    for (int i = 0; i < kLength; i++) Op::step(s, i);
    // The values are there before the clock is read.
    asm volatile("{ .reg .pred p, q; .reg .u32 t; setp.eq.u32 p, %0, 0x7f3a5519; cvt.u32.u64 t, %2; "
                 "setp.eq.u32 q, t, 0x7f3a5519; @p st.global.u32 [%1], %0; @q st.global.u32 [%1], t; }" ::"r"(
                     s.a[0] + s.a[1] + s.a[2] + s.a[3]),
                 "l"(memory), "l"(s.w[0] + s.w[1] + s.w[2] + s.w[3])
                 : "memory");
    const uint64_t end = clock_now();
    if (round >= kWarmUp) samples[round - kWarmUp] = end - start;
  }
  memory[70] = s.a[0] + s.w[0];
}

template <class Op>
uint64_t measure(uint64_t *samples, uint64_t *memory, uint64_t base) {
  run<Op><<<1, 1>>>(samples, memory, 3, 5, 7);
  CHECK(cudaDeviceSynchronize());
  std::vector<uint64_t> s(kRounds);
  CHECK(cudaMemcpy(s.data(), samples, kRounds * 8, cudaMemcpyDeviceToHost));
  std::sort(s.begin(), s.end());
  auto each = [&](int at) { return (static_cast<double>(s[at]) - static_cast<double>(base)) / kLength; };
  printf("\"%s\",%.2f,%.2f,%.2f\n", Op::kName, each(kRounds / 2), each(0), each(kRounds * 95 / 100));
  return s[kRounds / 2];
}

int main() {
  uint64_t *samples, *memory;
  CHECK(cudaMalloc(&samples, kRounds * 8));
  CHECK(cudaMalloc(&memory, 4096));
  CHECK(cudaMemset(memory, 0, 4096));
  printf("what,cycles,fastest,slowest5\n");
  const uint64_t base = measure<nothing>(samples, memory, 0);
  measure<add32_chain>(samples, memory, base);
  measure<add32_four>(samples, memory, base);
  measure<add64_chain>(samples, memory, base);
  measure<add64_four>(samples, memory, base);
  measure<shl64_chain>(samples, memory, base);
  measure<prmt_chain>(samples, memory, base);
  measure<mad_chain>(samples, memory, base);
  measure<madwide_chain>(samples, memory, base);
  measure<select_chain>(samples, memory, base);
  measure<select64_chain>(samples, memory, base);
  measure<guarded_chain>(samples, memory, base);
  measure<popc_chain>(samples, memory, base);
  measure<timer_used>(samples, memory, base);
  measure<clock_used>(samples, memory, base);
  measure<atomic>(samples, memory, base);
  measure<atomic32>(samples, memory, base);
  measure<atomic_acquire>(samples, memory, base);
  measure<cas>(samples, memory, base);
  measure<release>(samples, memory, base);
  measure<jump>(samples, memory, base);
  measure<untaken>(samples, memory, base);
  measure<looped>(samples, memory, base);
  measure<call_empty>(samples, memory, base);
  measure<call_many>(samples, memory, base);
}

// host_move: a grid copies between GPU and host memory, by loads or by stores.
//
// Launch     any grid.
// Job        local (read), remote (written), bytes (a multiple of 16), iterations (passes over all
//            bytes), warmup (passes before those), stamps. One of the two lies in host memory: where it
//            is local, the GPU pulls by loads; where it is remote, it pushes by stores.
// Access     16 bytes a thread, neighbouring threads neighbouring addresses, one load of a thread in
//            flight. Loads and stores pass the first cache.
// Order      a fence of system scope after each pass: what was stored is on its way out of the GPU.
// Who else   nobody.
// Stamps     earliest start after a thread's warm-up, latest end.
#include "protocol.cuh"

using namespace doorbell;

extern "C" __global__ void host_move(const doorbell_qp *, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  const uint64_t threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  const uint64_t step = threads * sizeof(unit);
  const uint64_t first = thread_index() * sizeof(unit);
  for (uint64_t pass = 0; pass < job.warmup + job.iterations; ++pass) {
    if (pass == job.warmup) {
      protocol::stamp_start(job, global_time());
    }
    // Lanes that part at the stamp would go on apart, each part with a round trip of its own.
    __syncwarp();
#pragma unroll 1
    for (uint64_t at = first; at < job.bytes; at += step) {
      unit value;
      asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                   : "l"(job.local + at)
                   : "memory");
      store_unit(job.remote + at, value);
    }
    fence(true);
  }
  protocol::stamp_end(job, global_time());
  protocol::report(job, DOORBELL_OK);
}

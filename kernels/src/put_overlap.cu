// put_overlap: some blocks put, the others compute.
//
// Launch     any number of blocks of any size. The first job.role blocks communicate: each of their
//            threads puts on its own. All others compute; either share may be empty.
// Job        local, remote, bytes, stride, iterations (of each thread that puts), qp_count, stamps;
//            role (how many blocks communicate), operand (rounds of each thread that computes),
//            inbox (uint32_t[threads of the grid]: what they computed). Thread t uses queue pair
//            t % qp_count, and the messages at local + t * stride and remote + t * stride.
// Computing  32 dependent multiply-adds modulo 2^32 a round, in registers: x = x * 1664525 + 1013904223,
//            from the thread's number. Thread t leaves x in inbox[t].
// Order      that of the library; those who compute touch nothing that is sent.
// Who else   threads that put share the queue pairs.
// Stamps     earliest start of all threads, latest end of all threads, quiet included.
#include "protocol.cuh"

using namespace doorbell;

namespace {

constexpr uint32_t kStepsOfRound = 32;

__device__ __forceinline__ uint32_t compute(uint32_t x, uint64_t rounds) {
  for (uint64_t round = 0; round < rounds; ++round) {
#pragma unroll
    for (uint32_t step = 0; step < kStepsOfRound; ++step) {
      x = x * 1664525u + 1013904223u;
      asm volatile("" : "+r"(x));  // no step is folded into the next
    }
  }
  return x;
}

__device__ __forceinline__ uint32_t communicate(const doorbell_qp *qps, const doorbell_job &job,
                                                uint64_t thread) {
  const queue_pair qp(&qps[thread % (job.qp_count == 0 ? 1 : job.qp_count)]);
  const request_list list = protocol::request_of(job, DOORBELL_OP_PUT, thread * job.stride);
  for (uint64_t i = 0; i < job.iterations; ++i) {
    const uint32_t status = post<by::thread>(qp, list).status;
    if (status != DOORBELL_OK) {
      return status;
    }
  }
  return quiet<by::thread>(qp);
}

}  // namespace

extern "C" __global__ void put_overlap(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  const uint64_t thread = thread_index();
  uint32_t status = DOORBELL_OK;
  protocol::stamp_start(job, global_time());
  if (blockIdx.x < job.role) {
    status = communicate(qps, job, thread);
  } else {
    reinterpret_cast<uint32_t *>(job.inbox)[thread] =
        compute(static_cast<uint32_t>(thread), job.operand);
  }
  protocol::stamp_end(job, global_time());
  protocol::report(job, status);
}

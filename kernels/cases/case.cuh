// What the cases share. A case is one public ordering bug in a few lines: KERNEL_broken has it,
// KERNEL_fixed has not, and nothing else differs.
//
// Every case takes (const doorbell_qp *qps, const doorbell_job *job), launched by the explorer on two
// ranks: role 0 and role 1. qps are the queue pairs of rank 0 in both. job.staging is memory of rank 0
// that both see, zeroed: words 128 bytes apart. Role 1 stands for a CPU thread of rank 0 where the case
// has one; a thread of another GPU is ordered as a CPU thread is, at system scope.
#ifndef DOORBELL_CASE_CUH
#define DOORBELL_CASE_CUH

#include "doorbell/doorbell.cuh"

namespace cases {

using namespace doorbell;

__device__ __forceinline__ void report(const doorbell_job *job, uint32_t status) {
  reinterpret_cast<uint32_t *>(job->status)[thread_index()] = status;
}

// A word of the memory that both roles share.
__device__ __forceinline__ uint64_t *shared_word(const doorbell_job *job, uint32_t number) {
  return reinterpret_cast<uint64_t *>(job->staging + 128ull * number);
}

__device__ __forceinline__ void set_relaxed(uint64_t *word, uint64_t value) {
  cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*word).store(value,
                                                                     cuda::memory_order_relaxed);
}

__device__ __forceinline__ void set_release(uint64_t *word, uint64_t value) {
  cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*word).store(value,
                                                                     cuda::memory_order_release);
}

// Waits until a word is at least `value`; acquires. False when the deadline passes.
__device__ __forceinline__ bool wait_at_least(const doorbell_qp *qp, const uint64_t *word,
                                              uint64_t value) {
  deadline limit(qp->deadline_ns);
  while (load_acquire_system(word) < value) {
    if (limit.due() && limit.passed()) {
      return false;
    }
  }
  return true;
}

// The put that belongs to block `index` of the send ring: message `index` of the job.
__device__ __forceinline__ void write_put(const queue_pair &qp, const doorbell_job *job,
                                          uint64_t index) {
  const uint64_t offset = index * job->stride;
  write_wqe(qp,
            transfer_request(kOpcodeWrite, source::device, {job->remote + offset, job->remote_key},
                             {job->local + offset, job->local_key}, job->bytes),
            index, true);
}

// Record and doorbell as they should be: what is written before the record, the record before the
// doorbell.
__device__ __forceinline__ void ring_in_order(const queue_pair &qp, uint64_t index) {
  fence(true);
  store_record(qp, index);
  fence(true);
  store_doorbell(qp, index);
}

}  // namespace cases

// The two kernels of a case.
#define DOORBELL_CASE(name)                                                                     \
  extern "C" __global__ void name##_broken(const doorbell_qp *qps, const doorbell_job *job) {   \
    cases::report(job, name<false>(qps, job));                                                  \
  }                                                                                             \
  extern "C" __global__ void name##_fixed(const doorbell_qp *qps, const doorbell_job *job) {   \
    cases::report(job, name<true>(qps, job));                                                   \
  }

#endif  // DOORBELL_CASE_CUH

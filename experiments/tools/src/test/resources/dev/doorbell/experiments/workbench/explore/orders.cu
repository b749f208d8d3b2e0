// Pairs of kernels for OrdersTest: one leaves out an order, the other has it. Compiled by
//
//   nvcc -ptx -O3 -std=c++17 -arch=compute_75 -I kernels/include orders.cu
//
// with .version lowered to 8.2.
#include "doorbell/doorbell.cuh"

using namespace doorbell;

#define PAIR(NAME)                                                                              \
  extern "C" __global__ void NAME##_broken(const doorbell_qp *qps, const doorbell_job *job) {   \
    NAME<false>(qps, *job);                                                                     \
  }                                                                                             \
  extern "C" __global__ void NAME##_fixed(const doorbell_qp *qps, const doorbell_job *job) {   \
    NAME<true>(qps, *job);                                                                      \
  }

__device__ __forceinline__ void report(const doorbell_job &job, uint32_t status) {
  reinterpret_cast<uint32_t *>(job.status)[thread_index()] = status;
}

// The payload is written again; fixed: when the put before is complete.
template <bool kMended>
__device__ void reuse(const doorbell_qp *qps, const doorbell_job &job) {
  const queue_pair qp(&qps[0]);
  uint32_t status = DOORBELL_OK;
  for (uint64_t n = 0; n < job.iterations && status == DOORBELL_OK; ++n) {
    *reinterpret_cast<uint64_t *>(job.local) = n;
    const posted sent =
        put(qp, {job.remote, job.remote_key}, {job.local, job.local_key}, job.bytes);
    status = sent.status;
    if (kMended && status == DOORBELL_OK) {
      status = wait(qp, sent.ticket);
    }
  }
  report(job, status == DOORBELL_OK ? quiet(qp) : status);
}
PAIR(reuse)

// Two buffers take turns, and each is free when its own put is complete. Broken: when the put before
// that is.
template <bool kMended>
__device__ void other_completion(const doorbell_qp *qps, const doorbell_job &job) {
  const queue_pair qp(&qps[0]);
  uint32_t status = DOORBELL_OK;
  uint64_t tickets[4] = {};
  for (uint64_t n = 0; n < 8 * job.iterations && status == DOORBELL_OK; ++n) {
    if (n >= 2) {
      status = wait(qp, tickets[(n - (kMended || n == 2 ? 2 : 3)) % 4]);
    }
    const uint64_t local = job.local + (n & 1) * job.bytes;
    *reinterpret_cast<uint64_t *>(local) = n;
    const posted sent = put(qp, {job.remote, job.remote_key}, {local, job.local_key}, job.bytes);
    tickets[n % 4] = sent.ticket;
    status = status == DOORBELL_OK ? sent.status : status;
  }
  report(job, status == DOORBELL_OK ? quiet(qp) : status);
}
PAIR(other_completion)

// Role 1 finds the last word of a message and reads the first. Broken where the inbox allows relaxed
// ordering; fixed there, too, by an atomic behind the payload.
template <bool kMended>
__device__ void arrival(const doorbell_qp *qps, const doorbell_job &job) {
  const queue_pair qp(&qps[0]);
  uint64_t *local = reinterpret_cast<uint64_t *>(job.local);
  const uint64_t last = job.bytes / 8 - 1;
  uint32_t status;
  if (job.role == 0) {
    local[0] = 42;
    local[last] = 1;
    status = put(qp, {job.remote, job.remote_key}, {job.local, job.local_key}, job.bytes).status;
    if (kMended && status == DOORBELL_OK) {
      status = quiet(qp);  // the word is sent when the payload has arrived
      local[last] = 2;
      status = status != DOORBELL_OK
                   ? status
                   : put(qp, {job.remote + last * 8, job.remote_key},
                         {job.local + last * 8, job.local_key}, 8)
                         .status;
    }
    status = status == DOORBELL_OK ? quiet(qp) : status;
  } else {
    const uint64_t *inbox = reinterpret_cast<const uint64_t *>(job.inbox);
    status = wait_for_word(qp, inbox + last, kMended ? 2 : 1);
    if (status == DOORBELL_OK && inbox[0] != 42) {
      status = DOORBELL_ERROR_DATA;
    }
  }
  report(job, status);
}
PAIR(arrival)

// Messages through one slot at role 1, which hands out a credit for each that it has taken. Broken: a
// message is sent although the one before may still lie there unread.
template <bool kMended>
__device__ void credits(const doorbell_qp *qps, const doorbell_job &job) {
  const queue_pair qp(&qps[0]);
  const uint64_t *inbox = reinterpret_cast<const uint64_t *>(job.inbox);
  const uint64_t last = job.bytes / 8 - 1;
  constexpr uint64_t kUnread = kMended ? 1 : 2;
  uint32_t status = DOORBELL_OK;
  for (uint64_t n = 1; n <= job.iterations && status == DOORBELL_OK; ++n) {
    if (job.role == 0) {
      status = n > kUnread ? wait_for_word(qp, inbox, n - kUnread, true) : DOORBELL_OK;
      const uint64_t local = job.local + (n & 1) * job.bytes;
      reinterpret_cast<uint64_t *>(local)[last] = n;
      status = status == DOORBELL_OK
                   ? put(qp, {job.remote, job.remote_key}, {local, job.local_key}, job.bytes).status
                   : status;
    } else {
      status = wait_for_word(qp, inbox + last, n, true);
      uint64_t seen;
      asm volatile("ld.global.u64 %0, [%1];"
                   : "=l"(seen)
                   : "l"(__cvta_generic_to_global(inbox))
                   : "memory");
      status = status == DOORBELL_OK ? put_value(qp, {job.remote, job.remote_key}, n).status : status;
    }
  }
  report(job, status == DOORBELL_OK ? quiet(qp) : status);
}
PAIR(credits)

// Thread 0 stores, the others load; broken: through the read-only cache.
template <bool kMended>
__device__ void read_only(const doorbell_qp *, const doorbell_job &job) {
  uint64_t *word = reinterpret_cast<uint64_t *>(job.inbox) + blockIdx.x;
  if (threadIdx.x == 0) {
    *word = 7;
  }
  __syncthreads();
  uint64_t seen;
  if (kMended) {
    asm volatile("ld.global.u64 %0, [%1];"
                 : "=l"(seen)
                 : "l"(__cvta_generic_to_global(word))
                 : "memory");
  } else {
    asm volatile("ld.global.nc.u64 %0, [%1];"
                 : "=l"(seen)
                 : "l"(__cvta_generic_to_global(word))
                 : "memory");
  }
  report(job, seen == 7 ? DOORBELL_OK : DOORBELL_ERROR_DATA);
}
PAIR(read_only)

// Lane 0 stores and hands a value to the others, who load; fixed by a barrier of the warp.
template <bool kMended>
__device__ void shuffle(const doorbell_qp *, const doorbell_job &job) {
  uint64_t *word = reinterpret_cast<uint64_t *>(job.inbox) + blockIdx.x;
  if (threadIdx.x % 32 == 0) {
    *word = 7;
  }
  const uint32_t go = __shfl_sync(0xffffffffu, threadIdx.x, 0);
  if (kMended) {
    __syncwarp();
  }
  uint64_t seen;
  asm volatile("ld.global.u64 %0, [%1];"
               : "=l"(seen)
               : "l"(__cvta_generic_to_global(word + go))
               : "memory");
  report(job, kMended && seen != 7 ? DOORBELL_ERROR_DATA : DOORBELL_OK);
}
PAIR(shuffle)

// Block 0 sends a word to block 1; broken: by a release and an acquire of block scope.
template <bool kMended>
__device__ void scope(const doorbell_qp *, const doorbell_job &job) {
  constexpr cuda::thread_scope kScope =
      kMended ? cuda::thread_scope_device : cuda::thread_scope_block;
  uint64_t *word = reinterpret_cast<uint64_t *>(job.inbox);
  cuda::atomic_ref<uint64_t, kScope> flag(word[1]);
  uint32_t status = DOORBELL_OK;
  if (blockIdx.x == 0) {
    word[0] = 7;
    flag.store(1, cuda::memory_order_release);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    status = word[0] == 7 ? DOORBELL_OK : DOORBELL_ERROR_DATA;
  }
  report(job, status);
}
PAIR(scope)

// Thread 1 reads from shared memory what thread 0 stored; fixed by a barrier of the block.
template <bool kMended>
__device__ void shared_memory(const doorbell_qp *, const doorbell_job &job) {
  __shared__ uint32_t word;
  if (threadIdx.x == 0) {
    word = 7;
  }
  if (kMended) {
    __syncthreads();
  }
  uint32_t seen;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(seen)
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&word))) : "memory");
  report(job, kMended && seen != 7 ? DOORBELL_ERROR_DATA : DOORBELL_OK);
}
PAIR(shared_memory)

// Two WQEs are announced one by one. Broken: the record of the first is stored behind that of the second.
template <bool kMended>
__device__ void record_back(const doorbell_qp *qps, const doorbell_job &job) {
  const queue_pair qp(&qps[0]);
  const work_request request = transfer_request(kOpcodeWrite, source::device, {job.remote, job.remote_key},
                                                {job.local, job.local_key}, job.bytes);
  for (uint64_t n = 0; n < 2 * job.iterations; n += 2) {
    write_wqe(qp, request, n, true);
    write_wqe(qp, request, n + 1, true);
    for (uint64_t i = 1; i <= 2; ++i) {
      fence(true);
      store_record(qp, n + (kMended ? i : 3 - i));
    }
    fence(true);
    store_doorbell(qp, n + 2);
  }
  report(job, wait_completed(qp, 2 * job.iterations));
}
PAIR(record_back)

// A barrier of two ranks in each round. Broken: rank 1 leaves out its last arrival.
template <bool kMended>
__device__ void missing_rank(const doorbell_qp *qps, const doorbell_job &job) {
  const queue_pair qp(&qps[0]);
  const uint64_t *arrived = reinterpret_cast<const uint64_t *>(job.inbox);
  uint32_t status = DOORBELL_OK;
  for (uint64_t n = 1; n <= job.iterations && status == DOORBELL_OK; ++n) {
    if (kMended || job.role == 0 || n < job.iterations) {
      status = put_value(qp, {job.remote, job.remote_key}, n).status;
    }
    while (load_acquire_system(arrived) < n) {
    }
  }
  report(job, status == DOORBELL_OK ? quiet(qp) : status);
}
PAIR(missing_rank)

// Role 1 gives a credit back for each message. Broken: for the second one it does not, and the sender stands still.
template <bool kMended>
__device__ void credit_leak(const doorbell_qp *qps, const doorbell_job &job) {
  const queue_pair qp(&qps[0]);
  const uint64_t *word = reinterpret_cast<const uint64_t *>(job.inbox);
  uint64_t credits = 0;
  uint32_t status = DOORBELL_OK;
  for (uint64_t n = 1; n <= job.iterations && status == DOORBELL_OK; ++n) {
    const uint64_t awaited = job.role == 0 ? n - 1 : n;
    while (load_acquire_system(word) < awaited) {
    }
    credits += kMended || n != 2 ? 1 : 0;
    status = put_value(qp, {job.remote, job.remote_key}, job.role == 0 ? n : credits).status;
  }
  report(job, status == DOORBELL_OK ? quiet(qp) : status);
}
PAIR(credit_leak)

// The sender counts completions. Broken: with a wrong key, and an error counts as one.
template <bool kMended>
__device__ void unread_error(const doorbell_qp *qps, const doorbell_job &job) {
  const queue_pair qp(&qps[0]);
  write_wqe(qp,
            transfer_request(kOpcodeWrite, source::device,
                             {job.remote, kMended ? job.remote_key : job.remote_key + 0x1000},
                             {job.local, job.local_key}, job.bytes),
            0, true);
  fence(true);
  store_record(qp, 1);
  fence(true);
  store_doorbell(qp, 1);
  // The last byte of the CQE: opcode << 4 | owner; an opcode of 15 is none.
  while (load_acquire_system(reinterpret_cast<const uint32_t *>(qp.cq_ring + 60)) >> 28 == 15) {
  }
  report(job, DOORBELL_OK);
}
PAIR(unread_error)

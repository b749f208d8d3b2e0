// Posting in the small: reserve, build a 64-byte work request, publish in order, ring.
#include <cuda/atomic>
#include <cstdint>

struct queue {
  uint64_t ring, record, doorbell, reserved, ready;
  uint32_t mask, pad;
};

static __device__ uint32_t be(uint32_t x) { return __byte_perm(x, 0, 0x0123); }

extern "C" __global__ void put_post(const queue* q, uint64_t remote, uint64_t local, uint32_t rkey,
                                    uint32_t lkey, uint32_t bytes, uint32_t posts) {
  uint32_t tid = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device> reserved(*(uint64_t*)q->reserved);
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device> ready(*(uint64_t*)q->ready);
  cuda::atomic_ref<uint32_t, cuda::thread_scope_system> record(*(uint32_t*)q->record);
  for (uint32_t i = 0; i < posts; i++) {
    uint64_t slot = reserved.fetch_add(1, cuda::memory_order_relaxed);
    uint64_t at = q->ring + (slot & q->mask) * 64;
    uint64_t to = remote + (uint64_t)(tid * posts + i) * bytes;
    uint64_t from = local + (uint64_t)(tid * posts + i) * bytes;
    uint4* w = (uint4*)at;
    w[0] = make_uint4(be((uint32_t)(slot & 0xffff) << 8 | 0x08), be(0x123403), 0x08000000, be(7));
    w[1] = make_uint4(be(to >> 32), be((uint32_t)to), be(rkey), 0);
    w[2] = make_uint4(be(bytes), be(lkey), be(from >> 32), be((uint32_t)from));
    w[3] = make_uint4(tid, i, 0, 0);
    while (ready.load(cuda::memory_order_acquire) != slot) {
    }
    record.store(be((uint32_t)(slot + 1)), cuda::memory_order_release);
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
    asm volatile("st.mmio.relaxed.sys.global.b64 [%0], %1;" ::"l"(q->doorbell), "l"(slot)
                 : "memory");
    ready.store(slot + 1, cuda::memory_order_release);
  }
}

extern "C" __global__ void build_only(const queue* q, uint64_t remote, uint64_t local, uint32_t rkey,
                                      uint32_t lkey, uint32_t bytes, uint32_t posts) {
  uint32_t tid = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device> reserved(*(uint64_t*)q->reserved);
  for (uint32_t i = 0; i < posts; i++) {
    uint64_t slot = reserved.fetch_add(1, cuda::memory_order_relaxed);
    uint64_t at = q->ring + (slot & q->mask) * 64;
    uint64_t to = remote + (uint64_t)(tid * posts + i) * bytes;
    uint4* w = (uint4*)at;
    w[0] = make_uint4(be((uint32_t)(slot & 0xffff) << 8 | 0x08), be(0x123403), 0x08000000, be(7));
    w[1] = make_uint4(be(to >> 32), be((uint32_t)to), be(rkey), 0);
    w[2] = make_uint4(be(bytes), be(lkey), be(local >> 32), be((uint32_t)local));
    asm volatile("st.mmio.relaxed.sys.global.b64 [%0], %1;" ::"l"(q->doorbell), "l"(slot)
                 : "memory");
  }
}

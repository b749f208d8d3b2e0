// A stand-in for NVSHMEM's IBGDA transport, for tests: structures with the names that the adapter asks for, in an
// order of our own and with fields that it does not know, and a put over them. Nothing of it is the library's code.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct nvshmemi_device_host_state_t {
  void **peer_heap_base_remote;
  void **peer_heap_base_p2p;
  size_t heap_size;
  void *heap_base;
  uint64_t added[3];
  int node_npes;
  int npes;
  int mype;
  bool ibgda_is_initialized;
};

struct nvshmemi_ibgda_device_key_t {
  uint64_t next_addr;
  uint32_t key;
};

struct nvshmemi_ibgda_device_local_only_mhandle_t {
  uint32_t lkeys[4];
  nvshmemi_ibgda_device_local_only_mhandle_t *next;
  uint64_t end;
  uint64_t start;
};

struct nvshmemi_ibgda_device_cq_t {
  uint64_t *ready_head;
  uint64_t *resv_head;
  uint64_t *cons_idx;
  uint64_t *prod_idx;
  uint8_t *cqe;
  uint32_t *dbrec;
  uint32_t qpn;
  uint32_t ncqes;
  uint32_t cqn;
  int qp_type;
};

struct nvshmemi_ibgda_device_qp_t {
  struct {
    struct {
      uint64_t cons_idx;
      uint64_t prod_idx;
      uint64_t ready_head;
      uint64_t resv_head;
    } tx_wq;
    int post_send_lock;
  } mvars;
  struct {
    nvshmemi_ibgda_device_cq_t *cq;
    uint64_t *prod_idx;
    void *bf;
    uint32_t *dbrec;
    uint8_t *wqe;
    uint16_t nwqes;
  } tx_wq;
  struct {
    uint32_t rkey;
    uint32_t lkey;
    void *buf;
    uint32_t nslots;
  } ibuf;
  uint32_t dev_idx;
  uint32_t qpn;
  int qp_type;
};

struct nvshmemi_ibgda_device_state_t {
  struct {
    nvshmemi_ibgda_device_local_only_mhandle_t *local_only_mhandle_head;
    nvshmemi_ibgda_device_qp_t *rcs;
    nvshmemi_ibgda_device_cq_t *cqs;
    uint8_t *qp_group_switches;
  } globalmem;
  struct {
    nvshmemi_ibgda_device_key_t rkeys[16];
    nvshmemi_ibgda_device_key_t lkeys[16];
  } constmem;
  size_t log2_cumem_granularity;
  int num_devices_initialized;
  uint32_t num_requests_in_batch;
  uint32_t num_default_rc_per_pe;
  uint32_t num_rc_per_pe;
  bool may_skip_cst;
  bool support_half_av_seg;
  bool nic_buf_on_gpumem;
};

#ifdef __CUDA_ARCH__
extern __constant__ nvshmemi_device_host_state_t nvshmemi_device_state_d;
extern __constant__ nvshmemi_ibgda_device_state_t nvshmemi_ibgda_device_state_d;

static __device__ uint32_t stand_in_swap(uint32_t value) { return __byte_perm(value, 0, 0x0123); }

static __device__ nvshmemi_ibgda_device_qp_t *stand_in_qp(int pe) {
  const nvshmemi_ibgda_device_state_t &state = nvshmemi_ibgda_device_state_d;
  const uint32_t turn = ++state.globalmem.qp_group_switches[0] % state.num_default_rc_per_pe;
  return &state.globalmem.rcs[turn * nvshmemi_device_state_d.npes + pe];
}

// Waits until everything below `index` of a queue pair has completed; its only entry has the last WQE's number.
static __device__ void stand_in_wait(nvshmemi_ibgda_device_qp_t *qp, uint64_t index) {
  nvshmemi_ibgda_device_cq_t *cq = qp->tx_wq.cq;
  volatile uint8_t *counter = cq->cqe + 60;
  while (*cq->cons_idx < index) {
    const uint32_t last = uint32_t(counter[0]) << 8 | counter[1];
    if (uint16_t(uint16_t(index) - last - 2) >= cq->ncqes) {
      *cq->cons_idx = index;
    }
  }
  __threadfence_system();
}

// One thread puts `bytes` to the place in the heap of `pe` that `remote` is in the own one.
static __device__ void stand_in_put(uint64_t remote, uint64_t local, uint32_t bytes, int pe) {
  const nvshmemi_device_host_state_t &host = nvshmemi_device_state_d;
  const nvshmemi_ibgda_device_state_t &state = nvshmemi_ibgda_device_state_d;
  const nvshmemi_ibgda_device_local_only_mhandle_t *handle = state.globalmem.local_only_mhandle_head;
  while (local < handle->start || local > handle->end) {
    handle = handle->next;
  }
  const uint64_t offset = remote - reinterpret_cast<uint64_t>(host.heap_base);
  const uint32_t chunk = uint32_t(offset >> state.log2_cumem_granularity);
  const nvshmemi_ibgda_device_key_t &key = state.constmem.rkeys[chunk * host.npes + pe];
  const uint64_t address = reinterpret_cast<uint64_t>(host.peer_heap_base_remote[pe]) + offset;
  nvshmemi_ibgda_device_qp_t *qp = stand_in_qp(pe);
  const uint64_t index = qp->mvars.tx_wq.resv_head++;
  if (index >= qp->tx_wq.nwqes) {
    stand_in_wait(qp, index + 1 - qp->tx_wq.nwqes);
  }
  uint32_t *wqe = reinterpret_cast<uint32_t *>(qp->tx_wq.wqe + index % qp->tx_wq.nwqes * 64);
  wqe[0] = stand_in_swap(uint32_t(index & 0xffff) << 8 | 0x08);
  wqe[1] = stand_in_swap(qp->qpn << 8 | 3);
  wqe[2] = 0x08000000;
  wqe[3] = 0;
  wqe[4] = stand_in_swap(uint32_t(address >> 32));
  wqe[5] = stand_in_swap(uint32_t(address));
  wqe[6] = key.key;
  wqe[7] = 0;
  wqe[8] = stand_in_swap(bytes);
  wqe[9] = handle->lkeys[qp->dev_idx];
  wqe[10] = stand_in_swap(uint32_t(local >> 32));
  wqe[11] = stand_in_swap(uint32_t(local));
  __threadfence_system();
  *const_cast<volatile uint32_t *>(qp->tx_wq.dbrec) = stand_in_swap(uint32_t(index + 1) & 0xffff);
  __threadfence_system();
  const uint64_t doorbell = uint64_t(stand_in_swap(qp->qpn << 8)) << 32 | stand_in_swap(uint32_t(index + 1) << 8);
  *static_cast<volatile uint64_t *>(qp->tx_wq.bf) = doorbell;
  *qp->tx_wq.prod_idx = index + 1;
}

// Waits for everything that this PE has posted.
static __device__ void stand_in_quiet() {
  const nvshmemi_device_host_state_t &host = nvshmemi_device_state_d;
  const nvshmemi_ibgda_device_state_t &state = nvshmemi_ibgda_device_state_d;
  for (uint32_t i = 0; i < state.num_default_rc_per_pe * host.npes; ++i) {
    nvshmemi_ibgda_device_qp_t *qp = &state.globalmem.rcs[i];
    if (i % host.npes != host.mype) {
      stand_in_wait(qp, *qp->tx_wq.prod_idx);
    }
  }
}
#endif

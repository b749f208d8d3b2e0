// A stand-in for GPUNetIO's device header, for tests: structures with the names that the adapter asks for, in an order
// of our own and with fields that it does not know, and a put over them. Nothing of it is the library's code.
#pragma once

#include <stdint.h>

#define DOCA_GPUNETIO_VERSION 0x090807

struct doca_gpu_dev_verbs_cq {
  uint64_t cqe_ci;
  uint64_t cqe_rsvd;
  uint8_t *cqe_daddr;
  uint32_t *dbrec;
  uint8_t added[24];
  uint32_t cqe_mask;
  uint32_t cqe_num;
  uint32_t cq_num;
  uint8_t cqe_size;
  uint32_t mem_type;
};

struct doca_gpu_dev_verbs_qp {
  uint64_t *sq_db;
  doca_gpu_dev_verbs_cq cq_sq;
  uint32_t *sq_dbrec;
  uint8_t *sq_wqe_daddr;
  uint32_t nic_handler;
  uint32_t mem_type;
  uint32_t sq_num_shift8_be_5ds;
  uint32_t sq_num_shift8_be_4ds;
  uint32_t sq_num_shift8_be_3ds;
  uint32_t sq_num_shift8_be_2ds;
  uint32_t sq_num_shift8_be_1ds;
  uint32_t sq_num_shift8_be;
  uint32_t sq_num_shift8;
  uint32_t sq_num;
  uint16_t sq_wqe_mask;
  uint16_t sq_wqe_num;
  int sq_lock;
  uint64_t sq_wqe_pi;
  uint64_t sq_ready_index;
  uint64_t sq_rsvd_index;
};

// Waits for the completion of WQE `index`: the owner bit of its entry is that of the ring's pass.
static __device__ void stand_in_wait(doca_gpu_dev_verbs_qp *qp, uint64_t index) {
  const doca_gpu_dev_verbs_cq *cq = &qp->cq_sq;
  const uint8_t pass = (index & (cq->cqe_mask + 1u)) != 0;
  volatile uint8_t *owner = cq->cqe_daddr + (index & cq->cqe_mask) * cq->cqe_size + 63;
  uint8_t found;
  do {
    found = *owner;
  } while ((found >> 4) == 15 || (found & 1) != pass);
  __threadfence_system();
}

// Where the WQE with the next index goes, once its block is free.
static __device__ uint32_t *stand_in_block(doca_gpu_dev_verbs_qp *qp, uint64_t index) {
  if (index > qp->sq_wqe_mask) {
    stand_in_wait(qp, index - qp->sq_wqe_num);
  }
  return reinterpret_cast<uint32_t *>(qp->sq_wqe_daddr + (index & qp->sq_wqe_mask) * 64);
}

// Rings for the WQE `index`, or raises the counter of the CPU that rings.
static __device__ void stand_in_ring(doca_gpu_dev_verbs_qp *qp, uint64_t index) {
  __threadfence_system();
  if (qp->nic_handler == 1) {
    *const_cast<volatile uint64_t *>(qp->sq_db) = index + 1;
    return;
  }
  *const_cast<volatile uint32_t *>(qp->sq_dbrec) = __byte_perm(uint32_t(index + 1) & 0xffff, 0, 0x0123);
  __threadfence_system();
  const uint32_t first = __byte_perm(uint32_t(index + 1) << 8, 0, 0x0123);
  *const_cast<volatile uint64_t *>(qp->sq_db) = uint64_t(qp->sq_num_shift8_be) << 32 | first;
}

// The control segment of a WQE with opcode and length, and its remote address segment.
static __device__ void stand_in_head(uint32_t *wqe, uint64_t index, uint32_t opcode, uint32_t length, uint64_t remote,
                                     uint32_t remote_key) {
  wqe[0] = __byte_perm(uint32_t(index & 0xffff) << 8 | opcode, 0, 0x0123);
  wqe[1] = length;
  wqe[2] = 0x08000000;
  wqe[3] = 0;
  wqe[4] = __byte_perm(uint32_t(remote >> 32), 0, 0x0123);
  wqe[5] = __byte_perm(uint32_t(remote), 0, 0x0123);
  wqe[6] = remote_key;
  wqe[7] = 0;
}

static __device__ void stand_in_data(uint32_t *segment, uint32_t bytes, uint32_t key, uint64_t address) {
  segment[0] = __byte_perm(bytes, 0, 0x0123);
  segment[1] = key;
  segment[2] = __byte_perm(uint32_t(address >> 32), 0, 0x0123);
  segment[3] = __byte_perm(uint32_t(address), 0, 0x0123);
}

// One thread posts a WRITE of `bytes`; keys as the WQE holds them. The index of its WQE.
static __device__ uint64_t stand_in_put(doca_gpu_dev_verbs_qp *qp, uint64_t remote, uint32_t remote_key, uint64_t local,
                                        uint32_t local_key, uint32_t bytes) {
  const uint64_t index = qp->sq_rsvd_index++;
  uint32_t *wqe = stand_in_block(qp, index);
  stand_in_head(wqe, index, 0x08, qp->sq_num_shift8_be_3ds, remote, remote_key);
  stand_in_data(wqe + 8, bytes, local_key, local);
  stand_in_ring(qp, index);
  return index;
}

// One thread posts a fetch-and-add of `value`, whose old value arrives at `local`.
static __device__ uint64_t stand_in_add(doca_gpu_dev_verbs_qp *qp, uint64_t remote, uint32_t remote_key, uint64_t local,
                                        uint32_t local_key, uint64_t value) {
  const uint64_t index = qp->sq_rsvd_index++;
  uint32_t *wqe = stand_in_block(qp, index);
  stand_in_head(wqe, index, 0x12, qp->sq_num_shift8_be_4ds, remote, remote_key);
  wqe[8] = __byte_perm(uint32_t(value >> 32), 0, 0x0123);
  wqe[9] = __byte_perm(uint32_t(value), 0, 0x0123);
  wqe[10] = 0;
  wqe[11] = 0;
  stand_in_data(wqe + 12, 8, local_key, local);
  stand_in_ring(qp, index);
  return index;
}

// One thread holds back what comes behind on `qp` until WQE `until` of another queue has its entry in `cqn`.
static __device__ void stand_in_hold(doca_gpu_dev_verbs_qp *qp, uint32_t cqn, uint64_t until) {
  const uint64_t index = qp->sq_rsvd_index++;
  uint32_t *wqe = stand_in_block(qp, index);
  wqe[0] = __byte_perm(uint32_t(index & 0xffff) << 8 | 0x0f, 0, 0x0123);
  wqe[1] = qp->sq_num_shift8_be_2ds;
  wqe[2] = 0x08000000;
  wqe[3] = 0;
  wqe[4] = 0;
  wqe[5] = 0;
  wqe[6] = __byte_perm(uint32_t(until), 0, 0x0123);
  wqe[7] = __byte_perm(cqn, 0, 0x0123);
  stand_in_ring(qp, index);
}

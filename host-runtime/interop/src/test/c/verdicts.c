/*
 * Posts one request a line on a fresh connection and prints how it ends: statuses, bytes received, the
 * states of both ends, and the checksum of the memory. Hostile cases of path MTU, length, key,
 * right, range, alignment and receives are among them. The caller compares the output of a server
 * that captures with that of one that does not.
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES 65536
#define HUGE (1ull << 31)
#define ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define NEED(what) do { if (!(what)) { printf("line %d: %s failed\n", __LINE__, #what); exit(1); } } while (0)

static struct ibv_context *context;
static struct ibv_pd *domain;
static union ibv_gid gid;
static uint8_t *memory[2];
static struct ibv_mr *region[2];

struct end {
  struct ibv_cq *cq;
  struct ibv_qp *qp;
};

struct request {
  const char *name;
  enum ibv_mtu mtu[2];
  enum ibv_wr_opcode opcode;
  uint64_t bytes;
  uint64_t remote;
  uint32_t rkey_xor, lkey_xor;
  int rights;
  int receive;  /* bytes of the receive; -1 for none */
};

static void make(struct end *end) {
  NEED(end->cq = ibv_create_cq(context, 16, NULL, NULL, 0));
  struct ibv_qp_init_attr attributes = {
    .send_cq = end->cq, .recv_cq = end->cq, .qp_type = IBV_QPT_RC,
    .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2, .max_recv_sge = 1}};
  NEED(end->qp = ibv_create_qp(domain, &attributes));
}

static void join(struct end *end, struct end *peer, enum ibv_mtu mtu, int rights) {
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = rights};
  NEED(!ibv_modify_qp(end->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
  struct ibv_qp_attr rtr = {
    .qp_state = IBV_QPS_RTR, .path_mtu = mtu, .dest_qp_num = peer->qp->qp_num, .max_dest_rd_atomic = 1,
    .min_rnr_timer = 1, .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 1}}};
  NEED(!ibv_modify_qp(end->qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN
                      | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
  struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 1, .max_rd_atomic = 1};
  NEED(!ibv_modify_qp(end->qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY
                      | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static int state(struct end *end) {
  struct ibv_qp_attr attributes;
  struct ibv_qp_init_attr init;
  NEED(!ibv_query_qp(end->qp, &attributes, IBV_QP_STATE, &init));
  return attributes.qp_state;
}

static void poll_all(const char *who, struct end *end) {
  struct ibv_wc wc;
  while (ibv_poll_cq(end->cq, 1, &wc) > 0)
    printf(" %s %d/%d/%u", who, wc.status, wc.status ? 0 : wc.opcode, wc.status ? 0 : wc.byte_len);
}

static uint32_t sum(uint8_t *at) {
  uint32_t value = 0;
  for (int i = 0; i < BYTES; i++)
    value = value * 31 + at[i];
  return value;
}

static void run(struct request *r) {
  struct end a, b;
  make(&a);
  make(&b);
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < BYTES; i++)
      memory[side][i] = (uint8_t)(i * 7 + side);
  join(&a, &b, r->mtu[0], ALL);
  join(&b, &a, r->mtu[1], r->rights);
  if (r->receive >= 0) {
    struct ibv_sge piece = {(uintptr_t)memory[1], r->receive, region[1]->lkey};
    struct ibv_recv_wr wr = {.sg_list = &piece, .num_sge = 1}, *bad;
    NEED(!ibv_post_recv(b.qp, &wr, &bad));
  }
  struct ibv_sge piece = {(uintptr_t)memory[0], r->bytes, region[0]->lkey ^ r->lkey_xor};
  struct ibv_send_wr wr = {.sg_list = &piece, .num_sge = 1, .opcode = r->opcode, .send_flags = IBV_SEND_SIGNALED}, *bad;
  wr.wr.rdma.remote_addr = (uintptr_t)memory[1] + r->remote;
  wr.wr.rdma.rkey = region[1]->rkey ^ r->rkey_xor;
  if (r->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic.remote_addr = (uintptr_t)memory[1] + r->remote;
    wr.wr.atomic.rkey = region[1]->rkey ^ r->rkey_xor;
    wr.wr.atomic.compare_add = 5;
  }
  NEED(!ibv_post_send(a.qp, &wr, &bad));
  struct ibv_wc wc;
  int found;
  while ((found = ibv_poll_cq(a.cq, 1, &wc)) == 0)
    ;
  NEED(found == 1);
  printf("%s:%s", r->name, wc.status ? "" : " ok");
  printf(" sent %d/%d", wc.status, wc.status ? 0 : wc.opcode);
  int states[] = {state(&a), state(&b)};
  poll_all("received", &b);
  struct ibv_async_event event;
  while (!ibv_get_async_event(context, &event)) {
    printf(" event %d", event.event_type);
    ibv_ack_async_event(&event);
  }
  printf(" states %d %d memory %08x %08x\n", states[0], states[1], sum(memory[0]), sum(memory[1]));
  NEED(!ibv_destroy_qp(a.qp) && !ibv_destroy_qp(b.qp));
  NEED(!ibv_destroy_cq(a.cq) && !ibv_destroy_cq(b.cq));
}

#define SAME {IBV_MTU_4096, IBV_MTU_4096}
#define LESS {IBV_MTU_4096, IBV_MTU_256}
#define MORE {IBV_MTU_256, IBV_MTU_4096}

static struct request requests[] = {
  {"write", SAME, IBV_WR_RDMA_WRITE, 40000, 0, 0, 0, ALL, -1},
  {"write, one packet for both MTUs", LESS, IBV_WR_RDMA_WRITE, 256, 0, 0, 0, ALL, -1},
  {"write, path MTU above the peer's", LESS, IBV_WR_RDMA_WRITE, 257, 0, 0, 0, ALL, -1},
  {"write, path MTU below the peer's", MORE, IBV_WR_RDMA_WRITE, 1000, 0, 0, 0, ALL, -1},
  {"read, path MTU above the peer's", LESS, IBV_WR_RDMA_READ, 5000, 0, 0, 0, ALL, -1},
  {"send, path MTU above the peer's", LESS, IBV_WR_SEND, 5000, 0, 0, 0, ALL, 8192},
  {"write of 2^30 + 1", SAME, IBV_WR_RDMA_WRITE, (1u << 30) + 1, 0, 0, 0, ALL, -1},
  {"write of 2^31 - 1", SAME, IBV_WR_RDMA_WRITE, 0x7fffffff, 0, 0, 0, ALL, -1},
  {"read of 2^31 - 1", SAME, IBV_WR_RDMA_READ, 0x7fffffff, 0, 0, 0, ALL, -1},
  {"send of 2^31 - 1", SAME, IBV_WR_SEND, 0x7fffffff, 0, 0, 0, ALL, 8192},
  {"another rkey", SAME, IBV_WR_RDMA_WRITE, 100, 0, 0x100, 0, ALL, -1},
  {"another lkey", SAME, IBV_WR_RDMA_WRITE, 100, 0, 0, 0x100, ALL, -1},
  {"write behind the region", SAME, IBV_WR_RDMA_WRITE, 100, HUGE - 99, 0, 0, ALL, -1},
  {"read before the region", SAME, IBV_WR_RDMA_READ, 100, -1ull, 0, 0, ALL, -1},
  {"write without the right", SAME, IBV_WR_RDMA_WRITE, 100, 0, 0, 0, ALL & ~IBV_ACCESS_REMOTE_WRITE, -1},
  {"read without the right", SAME, IBV_WR_RDMA_READ, 100, 0, 0, 0, ALL & ~IBV_ACCESS_REMOTE_READ, -1},
  {"atomic", SAME, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 16, 0, 0, ALL, -1},
  {"atomic, misaligned", SAME, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 12, 0, 0, ALL, -1},
  {"send", SAME, IBV_WR_SEND, 40000, 0, 0, 0, ALL, 40000},
  {"send of nothing", SAME, IBV_WR_SEND, 0, 0, 0, 0, ALL, 0},
  {"send above the receive", SAME, IBV_WR_SEND, 40000, 0, 0, 0, ALL, 39999},
  {"send without a receive", SAME, IBV_WR_SEND, 100, 0, 0, 0, ALL, -1},
  {"write with immediate data", SAME, IBV_WR_RDMA_WRITE_WITH_IMM, 9000, 100, 0, 0, ALL, 0},
  {"write with immediate data, no receive", SAME, IBV_WR_RDMA_WRITE_WITH_IMM, 100, 0, 0, 0, ALL, -1},
};

int main(void) {
  int count;
  struct ibv_device **devices = ibv_get_device_list(&count);
  NEED(devices && count > 0 && (context = ibv_open_device(devices[0])));
  NEED(!ibv_query_gid(context, 1, 0, &gid) && (domain = ibv_alloc_pd(context)));
  for (int side = 0; side < 2; side++) {
    memory[side] = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    NEED(memory[side] != MAP_FAILED && (region[side] = ibv_reg_mr(domain, memory[side], HUGE, ALL)));
  }
  NEED(!fcntl(context->async_fd, F_SETFL, O_NONBLOCK));
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
    run(&requests[i]);
  return 0;
}

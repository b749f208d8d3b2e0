package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.experiments.scenario.world.Endpoint;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * NVSHMEM's IBGDA transport: the variables {@code nvshmemi_device_state_d} and {@code
 * nvshmemi_ibgda_device_state_d}, a reliable connection to each other PE for each queue pair, and
 * their completion queues, which are collapsed.
 *
 * <p>The inbox of a rank, its signal words and the kernel's buffers lie in its symmetric heap: a
 * kernel names a peer's by the address of its own. The payload is memory that was registered
 * locally. A PE reaches itself by loads and stores, and every other one by its connections, unless
 * the ranks share a node; fetched data needs no further ordering. Signals that a PE sends to itself
 * go by what the library takes for an initiator of dynamic connections: here it is a reliable
 * connection, too, and says so in its type.
 */
final class NvshmemAdapter implements ApiAdapter {
  private static final String HOST = "nvshmemi_device_host_state_t";
  private static final String STATE = "nvshmemi_ibgda_device_state_t";
  private static final String QP = "nvshmemi_ibgda_device_qp_t";
  private static final String CQ = "nvshmemi_ibgda_device_cq_t";
  private static final String KEY = "nvshmemi_ibgda_device_key_t";
  private static final String LOCAL = "nvshmemi_ibgda_device_local_only_mhandle_t";

  /** {@code nvshmemi_ibgda_device_qp_type_t}. */
  private static final int RC = 3;

  /** The library's default of {@code NVSHMEM_IBGDA_NUM_REQUESTS_IN_BATCH}. */
  private static final int BATCH = 32;

  /** Chunks of the heap of 1 GiB, the largest that the library makes: one of each inbox. */
  private static final int LOG_CHUNK = 30;

  /** Slots of the buffer that fetched words arrive in, and bytes of each. */
  private static final int SLOTS = 64;

  private static final int SLOT_BYTES = 256;

  /** A switch each for the two ways in which a queue pair is picked in turns. */
  private static final int SWITCHES = 2;

  @Override
  public List<String> fields() {
    return Stream.of(
            of(
                HOST,
                "mype",
                "npes",
                "node_npes",
                "heap_base",
                "heap_size",
                "peer_heap_base_p2p",
                "peer_heap_base_remote",
                "ibgda_is_initialized"),
            of(
                STATE,
                "num_rc_per_pe",
                "num_default_rc_per_pe",
                "num_requests_in_batch",
                "log2_cumem_granularity",
                "num_devices_initialized",
                "nic_buf_on_gpumem",
                "support_half_av_seg",
                "may_skip_cst",
                "constmem.lkeys",
                "constmem.rkeys",
                "globalmem.qp_group_switches",
                "globalmem.cqs",
                "globalmem.rcs",
                "globalmem.local_only_mhandle_head"),
            of(
                QP,
                "qp_type",
                "qpn",
                "dev_idx",
                "ibuf.nslots",
                "ibuf.buf",
                "ibuf.lkey",
                "ibuf.rkey",
                "tx_wq.nwqes",
                "tx_wq.wqe",
                "tx_wq.dbrec",
                "tx_wq.bf",
                "tx_wq.cq",
                "tx_wq.prod_idx",
                "mvars.post_send_lock",
                "mvars.tx_wq.resv_head",
                "mvars.tx_wq.ready_head",
                "mvars.tx_wq.prod_idx",
                "mvars.tx_wq.cons_idx"),
            of(
                CQ,
                "qp_type",
                "dbrec",
                "cqe",
                "prod_idx",
                "cons_idx",
                "resv_head",
                "ready_head",
                "cqn",
                "ncqes",
                "qpn"),
            of(KEY, "key", "next_addr"),
            of(LOCAL, "start", "end", "next", "lkeys"),
            NvshmemTeams.fields())
        .flatMap(names -> names)
        .toList();
  }

  static Stream<String> of(String type, String... fields) {
    return Stream.of(fields).map(field -> type + "." + field);
  }

  @Override
  public Memory install(ApiLayout layout, Site site) throws ApiLayoutException {
    int pes = site.targets().size();
    int perPe = site.endpoints().size() / (pes - 1);
    List<Heap> heaps = heaps(site);
    Heap own = heaps.get(site.rank().number());
    Memory peers = allocate(site, (long) pes * Long.BYTES, "heaps of the peers");
    Memory direct = allocate(site, (long) pes * Long.BYTES, "heaps that loads and stores reach");
    for (int pe = 0; pe < pes; pe++) {
      peers.putLong((long) pe * Long.BYTES, heaps.get(pe).address());
      boolean reached = site.nvlink() || pe == site.rank().number();
      direct.putLong((long) pe * Long.BYTES, reached ? heaps.get(pe).address() : 0);
    }
    StructImage host =
        StructImage.array(layout, HOST, 1)
            .set("mype", site.rank().number())
            .set("npes", pes)
            .set("node_npes", site.nvlink() ? pes : 1)
            .set("heap_base", own.address())
            .set("heap_size", own.bytes())
            .set("peer_heap_base_p2p", direct.address())
            .set("peer_heap_base_remote", peers.address())
            .set("ibgda_is_initialized", 1);
    if (!site.heaps().isEmpty()) {
      new NvshmemTeams(layout, site).install(host);
    }
    site.module().global("nvshmemi_device_state_d").putBytes(0, host.toBytes());

    Memory queuePairs = queuePairs(layout, site, pes, perPe);
    StructImage state =
        StructImage.array(layout, STATE, 1)
            .set("num_rc_per_pe", perPe)
            .set("num_default_rc_per_pe", perPe)
            .set("num_requests_in_batch", BATCH)
            .set("log2_cumem_granularity", LOG_CHUNK)
            .set("num_devices_initialized", 1)
            .set("nic_buf_on_gpumem", inGpu(site) ? 1 : 0)
            .set("may_skip_cst", 1)
            .set("globalmem.qp_group_switches", allocate(site, SWITCHES, "switches").address())
            .set("globalmem.rcs", queuePairs.address())
            .set("globalmem.local_only_mhandle_head", payload(layout, site).address());
    if (!site.heaps().isEmpty()) {
      Endpoint itself = site.connection().openLoopback(site.rank().number());
      state
          .set("num_shared_dcis", 1)
          .set("num_qp_groups", 1)
          .set("globalmem.dcis", connections(layout, site, new Endpoint[] {itself}).address());
    }
    state
        .inner("constmem.lkeys", KEY)
        .setBigEndian("key", own.lkey())
        .set("next_addr", own.address() + own.bytes());
    for (int pe = 0; pe < pes; pe++) {
      state
          .inner("constmem.rkeys", KEY)
          .element(pe)
          .setBigEndian("key", heaps.get(pe).rkey())
          .set("next_addr", own.bytes());
    }
    site.module().global("nvshmemi_ibgda_device_state_d").putBytes(0, state.toBytes());
    return queuePairs;
  }

  /**
   * The heap of a PE.
   *
   * @param lkey that of the own PE
   */
  private record Heap(long address, long bytes, int lkey, int rkey) {}

  /** The heaps by PE; the inboxes where there is no symmetric heap. */
  private static List<Heap> heaps(Site site) {
    if (site.heaps().isEmpty()) {
      int lkey = site.inbox().key();
      return site.targets().stream()
          .map(span -> new Heap(span.address(), site.inbox().bytes(), lkey, span.key()))
          .toList();
    }
    return site.heaps().stream()
        .map(heap -> new Heap(heap.address(), heap.bytes(), heap.lkey(), heap.rkey()))
        .toList();
  }

  private static boolean inGpu(Site site) {
    return site.endpoints().stream()
        .allMatch(endpoint -> endpoint.queuePair().attributes().ringIn() == MemoryKind.DEVICE);
  }

  /** The handle of the payload. */
  private static Memory payload(ApiLayout layout, Site site) throws ApiLayoutException {
    StructImage image =
        StructImage.array(layout, LOCAL, 1)
            .set("start", site.local().address())
            .set("end", site.local().address() + site.local().bytes() - 1)
            .setBigEndian("lkeys", site.local().key());
    return stored(site, image, "handle of the payload");
  }

  /**
   * Reliable connections. That of turn t to PE p lies at t x PEs + p, as the device code of NVSHMEM
   * counts since 3.5.
   */
  private Memory queuePairs(ApiLayout layout, Site site, int pes, int perPe)
      throws ApiLayoutException {
    Endpoint[] ordered = new Endpoint[pes * perPe];
    int[] turns = new int[pes];
    for (Endpoint endpoint : site.endpoints()) {
      int pe = site.peer(endpoint);
      ordered[turns[pe]++ * pes + pe] = endpoint;
    }
    return connections(layout, site, ordered);
  }

  /** Connections side by side; zeros where there is none. */
  private static Memory connections(ApiLayout layout, Site site, @Nullable Endpoint[] endpoints)
      throws ApiLayoutException {
    StructImage qps = StructImage.array(layout, QP, endpoints.length);
    StructImage cqs = StructImage.array(layout, CQ, endpoints.length);
    Memory qpMemory = allocate(site, qps.toBytes().length, "reliable connections");
    Memory cqMemory = allocate(site, cqs.toBytes().length, "their completion queues");
    for (int i = 0; i < endpoints.length; i++) {
      Endpoint endpoint = endpoints[i];
      if (endpoint != null) {
        StructImage cq = cqs.element(i);
        fill(site, endpoint, qps.element(i), cq, qpMemory.address());
        qps.element(i).set("tx_wq.cq", cqMemory.address() + cq.base());
      }
    }
    qpMemory.putBytes(0, qps.toBytes());
    cqMemory.putBytes(0, cqs.toBytes());
    return qpMemory;
  }

  private static void fill(
      Site site, Endpoint endpoint, StructImage qp, StructImage cq, long qpMemory)
      throws ApiLayoutException {
    QueuePair queuePair = endpoint.queuePair();
    CompletionQueue completions = endpoint.completions();
    Memory fetched = allocate(site, (long) (SLOTS + 1) * SLOT_BYTES, "fetched words");
    MemoryRegion region =
        site.owned().add(site.rank().domain().register(fetched, Endpoint.ALL_RIGHTS));
    int blocks = queuePair.attributes().sendBlocks();
    long rung = qpMemory + qp.offset("mvars.tx_wq.prod_idx");
    qp.set("qp_type", RC)
        .set("qpn", queuePair.number())
        .set("ibuf.nslots", SLOTS)
        .set("ibuf.buf", fetched.address())
        .setBigEndian("ibuf.lkey", region.lkey())
        .setBigEndian("ibuf.rkey", region.rkey())
        .set("tx_wq.nwqes", blocks)
        .set("tx_wq.wqe", queuePair.sendRingAddress())
        .set("tx_wq.dbrec", queuePair.recordAddress() + DoorbellRecord.SEND_OFFSET)
        .set("tx_wq.bf", endpoint.doorbell())
        .set("tx_wq.prod_idx", rung);
    cq.set("qp_type", RC)
        .set("dbrec", completions.recordAddress())
        .set("cqe", completions.ringAddress())
        .set("prod_idx", rung)
        .set("cons_idx", qpMemory + qp.offset("mvars.tx_wq.cons_idx"))
        .set("resv_head", qpMemory + qp.offset("mvars.tx_wq.resv_head"))
        .set("ready_head", qpMemory + qp.offset("mvars.tx_wq.ready_head"))
        .set("cqn", completions.number())
        .set("ncqes", blocks)
        .set("qpn", queuePair.number());
  }

  private static Memory stored(Site site, StructImage image, String label) {
    byte[] bytes = image.toBytes();
    Memory memory = allocate(site, bytes.length, label);
    memory.putBytes(0, bytes);
    return memory;
  }

  private static Memory allocate(Site site, long bytes, String label) {
    Gpu gpu = site.rank().gpu();
    return site.owned().add(gpu.allocate(MemoryKind.DEVICE, bytes, label));
  }
}

package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.Multicast;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What NVSHMEM's barriers and collectives read: the predefined teams of a job whose nodes have one
 * PE each, or which is one node, their areas in the symmetric heap ({@code psync}), counters of
 * their barriers, and the parameters by which algorithms are chosen, which are the library's
 * defaults.
 *
 * <p>In one node PEs reach each other by loads and stores, and teams of all have a multicast object
 * over the heaps, where these are memory of the GPUs.
 */
final class NvshmemTeams {
  private static final String HOST = "nvshmemi_device_host_state_t";
  private static final String TEAM = "nvshmemi_team_t";
  private static final String VALUES = "doorbell_nvshmem_values";

  /** Length of the lists of neighbours of a reduction: radix 2. */
  private static final int RADIX = 2;

  /** {@code NVSHMEM_FCOLLECT_LL_THRESHOLD}. */
  private static final int LOW_LATENCY_BYTES = 2048;

  /** {@code NVSHMEM_REDUCE_SCRATCH_SIZE}. */
  private static final int REDUCE_BYTES = 1 << 19;

  /** {@code NVSHMEM_REDUCE_NVLS_THRESHOLD}. */
  private static final int MULTICAST_NUMBERS = 2048;

  private static final long NONE = 0xffff_ffffL;

  private final ApiLayout layout;
  private final ApiAdapter.Site site;
  private final SymmetricHeap heap;
  private final int pes;
  private final int peers;

  NvshmemTeams(ApiLayout layout, ApiAdapter.Site site) {
    this.layout = layout;
    this.site = site;
    this.peers = site.nvlink() ? site.heaps().size() : 1;
    this.heap = site.heaps().get(site.rank().number());
    this.pes = site.heaps().size();
  }

  /** The fields that are filled in or have to be zero. */
  static Stream<String> fields() {
    return Stream.of(
            NvshmemAdapter.of(
                HOST,
                "node_mype",
                "job_connectivity",
                "enable_rail_opt",
                "symmetric_heap_kind",
                "test_wait_any_start_idx_ptr",
                "team_pool",
                "psync_pool",
                "sync_counter",
                "gpu_coll_env_params_var.barrier_dissem_kval",
                "gpu_coll_env_params_var.barrier_tg_dissem_kval",
                "gpu_coll_env_params_var.reduce_recexch_kval",
                "gpu_coll_env_params_var.bcast_tree_kval",
                "gpu_coll_env_params_var.bcast_algo",
                "gpu_coll_env_params_var.reduce_algo",
                "gpu_coll_env_params_var.fcollect_algo",
                "gpu_coll_env_params_var.reducescatter_algo",
                "gpu_coll_env_params_var.fcollect_ll_threshold",
                "gpu_coll_env_params_var.fcollect_ll128_threshold",
                "gpu_coll_env_params_var.reduce_scratch_size",
                "gpu_coll_env_params_var.reduce_nvls_threshold"),
            NvshmemAdapter.of(
                "nvshmemi_ibgda_device_state_t",
                "num_shared_dcis",
                "num_exclusive_dcis",
                "dci_map_type",
                "num_qp_groups",
                "globalmem.dcis"),
            NvshmemAdapter.of(
                TEAM,
                "my_pe",
                "start",
                "stride",
                "size",
                "team_idx",
                "reduce_recexch.step1_sendto",
                "reduce_recexch.step1_recvfrom",
                "reduce_recexch.step2_nbrs",
                "reduce_recexch.step1_nrecvs",
                "reduce_recexch.step2_nphases",
                "rdxn_count",
                "ll_flag",
                "alltoall_pwrk",
                "alltoall_count",
                "bcast_count",
                "bcast_sync_offset",
                "fcollect_count",
                "are_gpus_p2p_connected",
                "is_team_node",
                "team_node",
                "is_team_same_mype_node",
                "team_same_mype_node",
                "nvls_rsc_base_ptr",
                "pe_mapping"),
            NvshmemAdapter.of(
                VALUES,
                "by_transport",
                "world",
                "shared",
                "node",
                "same_mype_node",
                "same_gpu",
                "gpu_leaders",
                "teams",
                "sync",
                "broadcast",
                "all_to_all"))
        .flatMap(names -> names);
  }

  /** A constant of the headers: a field that is larger by one. */
  private int value(String name) throws ApiLayoutException {
    return value(layout, name);
  }

  private static int value(ApiLayout layout, String name) throws ApiLayoutException {
    return layout.place(VALUES + "." + name).bytes() - 1;
  }

  /** Fills in what the state of the library says of teams. */
  void install(StructImage host) throws ApiLayoutException {
    int teams = value("teams");
    Memory pool = device((long) teams * Long.BYTES, "teams");
    List<Integer> alone = List.of(site.rank().number());
    List<Integer> all = IntStream.range(0, pes).boxed().toList();
    long multicast = multicast();
    for (String name : List.of("shared", "node")) {
      store(pool, name, joined(team(name, site.nvlink() ? all : alone), multicast));
    }
    store(pool, "same_gpu", joined(team("same_gpu", alone), 0));
    store(pool, "gpu_leaders", team("gpu_leaders", all));
    int inNode = site.rank().number() % peers;
    List<Integer> same = all.stream().filter(pe -> pe % peers == inNode).toList();
    store(pool, "same_mype_node", team("same_mype_node", same).set("is_team_same_mype_node", 1));
    StructImage world = team("world", all);
    store(
        pool,
        "world",
        (site.nvlink() ? joined(world, multicast) : world)
            .set("team_node", value("node"))
            .set("team_same_mype_node", value("same_mype_node")));

    // Counters of barriers begin at 1.
    Memory counters = device(2L * teams * Long.BYTES, "passed barriers");
    for (int i = 0; i < 2 * teams; i++) {
      counters.putLong((long) i * Long.BYTES, 1);
    }
    host.set("job_connectivity", value(site.nvlink() ? "by_memory" : "by_transport"))
        .set("node_mype", site.nvlink() ? site.rank().number() : 0)
        .set("test_wait_any_start_idx_ptr", device(Long.BYTES, "start of waits").address())
        .set("team_pool", pool.address())
        .set("psync_pool", heap.allocate(heapBytes(layout, pes), "areas of teams").address())
        .set("sync_counter", counters.address())
        .set("gpu_coll_env_params_var.barrier_dissem_kval", RADIX)
        .set("gpu_coll_env_params_var.barrier_tg_dissem_kval", RADIX)
        .set("gpu_coll_env_params_var.reduce_recexch_kval", RADIX)
        .set("gpu_coll_env_params_var.bcast_tree_kval", RADIX)
        .set("gpu_coll_env_params_var.fcollect_ll_threshold", LOW_LATENCY_BYTES)
        .set("gpu_coll_env_params_var.reduce_scratch_size", REDUCE_BYTES)
        .set("gpu_coll_env_params_var.reduce_nvls_threshold", MULTICAST_NUMBERS);
  }

  /** A team whose PEs reach each other's memory. */
  private static StructImage joined(StructImage team, long multicast) throws ApiLayoutException {
    return team.set("are_gpus_p2p_connected", 1)
        .set("is_team_node", 1)
        .set("nvls_rsc_base_ptr", multicast);
  }

  /** Where the address of the multicast object over all heaps is found; 0 where there is none. */
  private long multicast() {
    if (!site.nvlink() || heap.memory().kind() != MemoryKind.DEVICE) {
      return 0;
    }
    List<Memory> heaps = site.heaps().stream().map(SymmetricHeap::memory).toList();
    Multicast object =
        site.owned().add(site.rank().gpu().multicast(heaps, "multicast object over the heaps"));
    Memory word = device(Long.BYTES, "address of the multicast object");
    word.putLong(0, object.address());
    return word.address();
  }

  /**
   * Bytes of all teams' areas in the heap. Each has two for barriers, one for reductions, one for
   * broadcasts, two of double size for what is gathered with low latency, two for all-to-all, and a
   * word for each PE.
   */
  static long heapBytes(ApiLayout layout, int pes) throws ApiLayoutException {
    long words =
        2L * value(layout, "sync")
            + value(layout, "broadcast")
            + 2L * value(layout, "all_to_all")
            + pes;
    long bytes = words * Long.BYTES + REDUCE_BYTES + 4L * pes * LOW_LATENCY_BYTES;
    return value(layout, "teams") * bytes;
  }

  /**
   * A team.
   *
   * @param members PEs in order, with one stride, this one among them
   */
  private StructImage team(String name, List<Integer> members) throws ApiLayoutException {
    int mine = members.indexOf(site.rank().number());
    StructImage team =
        StructImage.array(layout, TEAM, 1)
            .set("my_pe", mine)
            .set("start", members.getFirst())
            .set("stride", members.size() == 1 ? 1 : members.get(1) - members.getFirst())
            .set("size", members.size())
            .set("team_idx", value(name))
            .set("ll_flag", 1)
            .set("team_node", NONE)
            .set("team_same_mype_node", NONE)
            .set("pe_mapping", mapping(members));
    exchange(team, members, mine);
    return team;
  }

  /** PEs of the members, and behind them the member of each PE. */
  private long mapping(List<Integer> members) {
    IntStream there = members.stream().mapToInt(Integer::intValue);
    IntStream back = IntStream.range(0, pes).map(members::indexOf);
    return ints(IntStream.concat(there, back).toArray(), "members of a team").address();
  }

  /**
   * The neighbours of a recursive exchange with radix 2. The largest power of two of members takes
   * part in its phases; of the first members as many as are left over, in pairs, one hands its
   * numbers to the other first and gets the result back.
   */
  private void exchange(StructImage team, List<Integer> members, int mine)
      throws ApiLayoutException {
    int within = Integer.highestOneBit(members.size());
    int left = members.size() - within;
    int phases = Integer.numberOfTrailingZeros(within);
    boolean paired = mine < 2 * left;
    boolean hands = paired && mine % 2 == 0;
    boolean takes = paired && !hands;
    long lists = 0;
    if (!hands) {
      int among = paired ? mine / 2 : mine - left;
      Memory each = device((long) (phases + 1) * Long.BYTES, "phases of a reduction");
      for (int phase = 0; phase < phases; phase++) {
        int other = among ^ 1 << phase;
        int member = other < left ? 2 * other + 1 : other + left;
        each.putLong(
            (long) phase * Long.BYTES,
            ints(new int[] {members.get(member)}, "neighbour of a phase").address());
      }
      lists = each.address();
    }
    team.set("reduce_recexch.step1_sendto", hands ? members.get(mine + 1) : NONE)
        .set("reduce_recexch.step1_nrecvs", takes ? 1 : 0)
        .set(
            "reduce_recexch.step1_recvfrom",
            takes ? ints(new int[] {members.get(mine - 1)}, "who hands over").address() : 0)
        .set("reduce_recexch.step2_nphases", phases)
        .set("reduce_recexch.step2_nbrs", lists);
  }

  private void store(Memory pool, String name, StructImage team) throws ApiLayoutException {
    byte[] bytes = team.toBytes();
    Memory memory = device(bytes.length, "team " + name);
    memory.putBytes(0, bytes);
    pool.putLong((long) value(name) * Long.BYTES, memory.address());
  }

  private Memory ints(int[] numbers, String label) {
    ByteBuffer bytes =
        ByteBuffer.allocate(numbers.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asIntBuffer().put(numbers);
    Memory memory = device(bytes.capacity(), label);
    memory.putBytes(0, bytes.array());
    return memory;
  }

  /** Zeroed memory of the GPU. */
  private Memory device(long bytes, String label) {
    Memory memory = site.owned().add(site.rank().gpu().allocate(MemoryKind.DEVICE, bytes, label));
    memory.fill(0, bytes, (byte) 0);
    return memory;
  }
}

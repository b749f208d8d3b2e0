package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.fabric.explore.model.Region;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.proxy.CommandQueue;
import dev.doorbell.proxy.DoorbellRinger;
import dev.doorbell.proxy.ProxyAgent;
import dev.doorbell.ptxvm.launch.VmGpu;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Queue pairs between the ranks of a world, and the CPU threads that post or ring for the kernels.
 */
public final class Connection implements AutoCloseable {
  /** Who rings for the kernels. */
  public enum Ringing {
    /** They do. */
    GPU,
    /** They raise a counter, and the CPU rings. */
    CPU,
    /** They write commands, and the CPU posts and rings. */
    PROXY
  }

  private static final int COMMAND_ENTRIES = 256;

  /** Queue pairs of a rank that have pages of their own. */
  private static final int FEW = 64;

  private final World world;
  private final SortedMap<Integer, List<Endpoint>> endpoints = new TreeMap<>();
  private final Map<Integer, QueuePages> pages = new HashMap<>();
  private final Owned helpers = new Owned();
  private final int places;

  /**
   * @param places among a rank's queue pairs where each other rank has its own; 0 where these are
   *     numbered from 0 on
   */
  private Connection(World world, int places) {
    this.world = world;
    this.places = places;
  }

  /** Connects ranks 0 and 1 by {@code count} queue pairs of the same shape. */
  public static Connection open(World world, Endpoint.Shape shape, Ringing ringing, int count) {
    return open(world, 2, shape, ringing, count, 1);
  }

  /**
   * Connects ranks 0 and 1 by {@code count} queue pairs, on which {@code ranks} of them post.
   *
   * @param threads of each such rank's CPU that post or ring; queue pair i is served by thread i
   *     modulo their number
   */
  public static Connection open(
      World world, int ranks, Endpoint.Shape shape, Ringing ringing, int count, int threads) {
    Connection connection = pairs(world, shape, count);
    for (int rank = 0; rank < ranks; rank++) {
      connection.start(ringing, rank, threads);
    }
    return connection;
  }

  /**
   * Gives each of {@code ranks} ranks {@code count} initiators of dynamic connections.
   *
   * @param threads of each rank's CPU that ring, where the CPU does; initiator i is served by
   *     thread i modulo their number
   */
  public static Connection initiators(
      World world, int ranks, Endpoint.Shape shape, Ringing ringing, int count, int threads) {
    Connection connection = new Connection(world, 0);
    for (int rank = 0; rank < ranks; rank++) {
      for (int i = 0; i < count; i++) {
        connection
            .endpoints
            .computeIfAbsent(rank, _ -> new ArrayList<>())
            .add(Endpoint.openInitiator(world.rank(rank), shape, i));
      }
      connection.start(ringing, rank, threads);
    }
    return connection;
  }

  private static Connection pairs(World world, Endpoint.Shape shape, int count) {
    Connection connection = new Connection(world, 0);
    for (int i = 0; i < count; i++) {
      connection.pair(0, i, 1, i, shape);
    }
    return connection;
  }

  /** Connects two ranks by one queue pair each, for which kernels ring themselves. */
  public static Connection between(World world, int one, int other, Endpoint.Shape shape) {
    Connection connection = new Connection(world, 0);
    connection.pair(one, 0, other, 0, shape);
    return connection;
  }

  /**
   * Connects each of the ranks from 0 on to each other one by a queue pair, whose place among those
   * of its rank is the number of the rank that it leads to.
   */
  public static Connection mesh(World world, int ranks, Endpoint.Shape shape, Ringing ringing) {
    Connection connection = among(world, ranks, 1, shape, (_, _) -> true);
    for (int rank = 0; rank < ranks; rank++) {
      connection.start(ringing, rank, 1);
    }
    return connection;
  }

  /** Pairs of ranks that a queue pair connects. */
  public interface Pairs {
    boolean joins(int one, int other);
  }

  /**
   * Opens a {@link #mesh} for kernels that ring themselves, with {@code count} queue pairs between
   * those pairs of ranks that {@code pairs} joins: that of turn t to rank r has place t x ranks +
   * r. Other places are zero.
   */
  public static Connection among(
      World world, int ranks, int count, Endpoint.Shape shape, Pairs pairs) {
    Connection connection = new Connection(world, ranks * count);
    for (int turn = 0; turn < count; turn++) {
      for (int one = 0; one < ranks; one++) {
        for (int other = 0; other < one; other++) {
          if (pairs.joins(one, other)) {
            connection.pair(one, turn * ranks + other, other, turn * ranks + one, shape);
          }
        }
      }
    }
    return connection;
  }

  /** Tells an explorer where the rings and records are; the record may come after the doorbell. */
  public void describe(ExploringFabric fabric, boolean recordFirst) {
    endpoints.forEach(
        (rank, own) -> own.forEach(each -> describe(fabric, each, rank, recordFirst, true)));
  }

  /** Tells a fabric where one queue pair's rings and record are, if they lie in memory. */
  public static void describe(
      ExploringFabric fabric, Endpoint of, int rank, boolean recordFirst, boolean announces) {
    QueuePair queuePair = of.queuePair();
    if (queuePair.deviceQueue() != null) {
      return;
    }
    int number = queuePair.number();
    long ring = (long) queuePair.attributes().sendBlocks() * SendQueue.BLOCK;
    fabric.describe(
        new Region(
            Region.Role.SEND_RING,
            queuePair.sendRingAddress(),
            ring,
            number,
            rank,
            recordFirst,
            announces));
    fabric.describe(
        new Region(
            Region.Role.SEND_RECORD,
            queuePair.recordAddress() + DoorbellRecord.SEND_OFFSET,
            Integer.BYTES,
            number,
            rank,
            recordFirst,
            announces));
  }

  private void pair(int one, int indexOfOne, int other, int indexOfOther, Endpoint.Shape shape) {
    Endpoint.connect(add(one, indexOfOne, shape), add(other, indexOfOther, shape));
  }

  private Endpoint add(int rank, int index, Endpoint.Shape shape) {
    Endpoint endpoint = open(rank, shape, index);
    endpoints.computeIfAbsent(rank, _ -> new ArrayList<>()).add(endpoint);
    return endpoint;
  }

  /** Opens an end; many of a rank share pages where its GPU is that of the virtual machine. */
  private Endpoint open(int rank, Endpoint.Shape shape, int index) {
    Rank of = world.rank(rank);
    MemoryProvider memory =
        places > FEW && of.gpu() instanceof VmGpu gpu
            ? pages.computeIfAbsent(rank, _ -> new QueuePages(world.fabric().memory(), gpu))
            : of.gpu();
    return Endpoint.open(of, shape, index, memory);
  }

  private void start(Ringing how, int rank, int threads) {
    switch (how) {
      case GPU -> {}
      case CPU -> startRingers(rank, endpoints(rank), threads);
      case PROXY -> startProxies(rank, threads);
    }
  }

  /** The world whose ranks it connects. */
  public World world() {
    return world;
  }

  /** The queue pairs of a rank, in order. */
  public List<Endpoint> endpoints(int rank) {
    return endpoints.getOrDefault(rank, List.of());
  }

  /** Number of places of a rank's queue pairs; among ranks, those that lead nowhere are zero. */
  public int places(int rank) {
    return places > 0 ? places : endpoints(rank).size();
  }

  /** Writes the views of a rank's queue pairs to memory that its kernels can read. */
  public Memory writeViews(int rank) {
    byte[] bytes = new byte[places(rank) * QueuePairView.BYTES];
    for (Endpoint endpoint : endpoints(rank)) {
      byte[] view = endpoint.view().encode();
      System.arraycopy(view, 0, bytes, endpoint.index() * view.length, view.length);
    }
    Memory memory =
        world.rank(rank).gpu().allocate(MemoryKind.DEVICE, bytes.length, "queue pair views");
    memory.putBytes(0, bytes);
    return memory;
  }

  private void startRingers(int rank, List<Endpoint> served, int threads) {
    List<DoorbellRinger> ringers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      ringers.add(
          helpers.add(new DoorbellRinger(world.fabric(), Locus.cpu(rank), world.cpuPrices())));
    }
    for (Endpoint endpoint : served) {
      Memory request =
          helpers.add(world.rank(rank).gpu().allocate(MemoryKind.HOST, Long.BYTES, "ring request"));
      ringers.get(endpoint.index() % threads).watch(endpoint.queuePair(), request.address());
      endpoint.useCpuRinger(request.address());
    }
  }

  private void startProxies(int rank, int threads) {
    List<ProxyAgent> proxies = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      proxies.add(helpers.add(new ProxyAgent(world.fabric(), Locus.cpu(rank), world.cpuPrices())));
    }
    for (Endpoint endpoint : endpoints(rank)) {
      CommandQueue queue =
          helpers.add(new CommandQueue(world.rank(rank).gpu(), COMMAND_ENTRIES, 0));
      proxies.get(endpoint.index() % threads).serve(queue, endpoint.queuePair(), endpoint.view());
      endpoint.useCommandQueue(queue.descriptorAddress());
    }
  }

  @Override
  public void close() {
    helpers.close();
    for (List<Endpoint> own : endpoints.values()) {
      own.reversed().forEach(Endpoint::close);
    }
    pages.values().forEach(QueuePages::close);
  }
}

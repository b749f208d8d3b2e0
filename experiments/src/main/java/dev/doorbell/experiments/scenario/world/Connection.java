package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.QueuePairView;
import dev.doorbell.proxy.CommandQueue;
import dev.doorbell.proxy.DoorbellRinger;
import dev.doorbell.proxy.ProxyAgent;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Ranks of a world, connected by queue pairs, with whatever helpers their CPUs run: a proxy that
 * posts, or a ringer.
 */
public final class Connection implements AutoCloseable {
  /** Who rings for the kernels. */
  public enum Ringing {
    /** They do. */
    GPU,
    /** They raise a counter, and the CPU rings. */
    CPU,
    /** They hand commands over, and the CPU posts and rings. */
    PROXY
  }

  private static final int COMMAND_ENTRIES = 256;

  private final World world;
  private final SortedMap<Integer, List<Endpoint>> endpoints = new TreeMap<>();
  private final Owned helpers = new Owned();
  private final boolean mesh;

  private Connection(World world, boolean mesh) {
    this.world = world;
    this.mesh = mesh;
  }

  /** Connects ranks 0 and 1 by {@code count} queue pairs of the same shape. */
  public static Connection open(World world, Endpoint.Shape shape, Ringing ringing, int count) {
    Connection connection = new Connection(world, false);
    for (int i = 0; i < count; i++) {
      Endpoint a = Endpoint.open(world.rank(0), shape, i);
      Endpoint b = Endpoint.open(world.rank(1), shape, i);
      connection.add(0, a);
      connection.add(1, b);
      Endpoint.connect(a, b);
    }
    for (int rank = 0; rank < 2; rank++) {
      connection.start(ringing, rank);
    }
    return connection;
  }

  /** Connects two ranks by one queue pair each, for which kernels ring themselves. */
  public static Connection between(World world, int one, int other, Endpoint.Shape shape) {
    Connection connection = new Connection(world, false);
    Endpoint a = Endpoint.open(world.rank(one), shape, 0);
    Endpoint b = Endpoint.open(world.rank(other), shape, 0);
    connection.add(one, a);
    connection.add(other, b);
    Endpoint.connect(a, b);
    return connection;
  }

  /**
   * Connects each of the ranks from 0 on to each other one by a queue pair, whose place among those
   * of its rank is the number of the rank that it leads to.
   */
  public static Connection mesh(World world, int ranks, Endpoint.Shape shape, Ringing ringing) {
    Connection connection = new Connection(world, true);
    for (int one = 0; one < ranks; one++) {
      for (int other = 0; other < one; other++) {
        Endpoint a = Endpoint.open(world.rank(one), shape, other);
        connection.add(one, a);
        Endpoint b = Endpoint.open(world.rank(other), shape, one);
        connection.add(other, b);
        Endpoint.connect(a, b);
      }
    }
    for (int rank = 0; rank < ranks; rank++) {
      connection.start(ringing, rank);
    }
    return connection;
  }

  private void add(int rank, Endpoint endpoint) {
    endpoints.computeIfAbsent(rank, _ -> new ArrayList<>()).add(endpoint);
  }

  /**
   * The side of {@code rank}, whose peer is in another process. The queue pairs are connected by
   * {@link #connect}.
   */
  public static Connection half(
      World world, int rank, Endpoint.Shape shape, Ringing ringing, int count) {
    Connection connection = new Connection(world, false);
    for (int i = 0; i < count; i++) {
      connection.add(rank, Endpoint.open(world.rank(rank), shape, i));
    }
    connection.start(ringing, rank);
    return connection;
  }

  /** Connects the queue pairs of {@code rank} to these, in order. */
  public void connect(int rank, List<QueuePairAddress> peers) {
    List<Endpoint> own = endpoints(rank);
    for (int i = 0; i < own.size(); i++) {
      own.get(i).connect(peers.get(i));
    }
  }

  private void start(Ringing ringing, int rank) {
    switch (ringing) {
      case GPU -> {}
      case CPU -> startRinger(rank);
      case PROXY -> startProxy(rank);
    }
  }

  /** The queue pairs of a rank, in order. */
  public List<Endpoint> endpoints(int rank) {
    return endpoints.getOrDefault(rank, List.of());
  }

  /** How many places a rank's queue pairs have; that to itself, of a mesh, is empty. */
  public int places(int rank) {
    return mesh ? endpoints.size() : endpoints(rank).size();
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

  private void startRinger(int rank) {
    DoorbellRinger ringer = new DoorbellRinger(world.fabric(), Locus.cpu(rank), world.cpuPrices());
    helpers.add(ringer);
    for (Endpoint endpoint : endpoints(rank)) {
      Memory request = world.rank(rank).gpu().allocate(MemoryKind.HOST, Long.BYTES, "ring request");
      helpers.add(request);
      ringer.watch(endpoint.queuePair(), request.address());
      endpoint.useCpuRinger(request.address());
    }
  }

  private void startProxy(int rank) {
    ProxyAgent proxy = new ProxyAgent(world.fabric(), Locus.cpu(rank), world.cpuPrices());
    helpers.add(proxy);
    for (Endpoint endpoint : endpoints(rank)) {
      CommandQueue queue = new CommandQueue(world.rank(rank).gpu(), COMMAND_ENTRIES, 0);
      helpers.add(queue);
      proxy.serve(queue, endpoint.queuePair(), endpoint.view());
      endpoint.useCommandQueue(queue.descriptorAddress());
    }
  }

  @Override
  public void close() {
    helpers.close();
    for (List<Endpoint> own : endpoints.values()) {
      own.reversed().forEach(Endpoint::close);
    }
  }
}

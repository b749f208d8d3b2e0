package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.agent.SourcePlace;
import java.util.BitSet;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a program that runs have executed, and the orders that they have seen: of one run,
 * or of many together.
 *
 * <p>Instructions are told apart by the line of the PTX, so that ranks and runs count together.
 */
public final class Coverage {
  private final BitSet reachable = new BitSet();
  private final BitSet executed = new BitSet();
  private final Map<Edge, Way> ways = new LinkedHashMap<>();
  private final Map<Edge, Wait> waits = new LinkedHashMap<>();
  private final BitSet reached = new BitSet();
  private final Map<Edge, Order> orders = new LinkedHashMap<>();
  private final Map<Integer, Read> reads = new LinkedHashMap<>();

  /** Two lines of the program, or numbers below 0 that stand for devices. */
  record Edge(int from, int to) {
    Edge reversed() {
      return new Edge(to, from);
    }
  }

  /**
   * A way out of a branch.
   *
   * @param branch where it begins
   * @param target where it leads
   */
  public record Way(SourcePlace branch, @Nullable SourcePlace target, boolean taken) {}

  /**
   * A branch at which threads wait, for others or for a device.
   *
   * @param waited a thread has gone round at least once
   */
  public record Wait(SourcePlace place, boolean waited) {}

  /** Two accesses to the same bytes that nothing ordered, in the order in which they were seen. */
  public record Order(Side first, Side second) {}

  /**
   * One of them.
   *
   * @param who an agent that did it
   * @param place where in the program; null for devices
   */
  public record Side(String who, @Nullable SourcePlace place) {}

  /**
   * A load that could have returned an older value.
   *
   * @param old it has done so at least once
   */
  public record Read(SourcePlace place, boolean old) {}

  void add(int line, boolean wasExecuted) {
    reachable.set(line);
    executed.set(line, executed.get(line) || wasExecuted);
  }

  void add(Map<Edge, Way> those, Map<Edge, Wait> polls) {
    those.forEach((edge, way) -> merge(ways, edge, way, (old, other) -> !old.taken && other.taken));
    polls.forEach(
        (edge, wait) -> merge(waits, edge, wait, (old, other) -> !old.waited && other.waited));
  }

  /** A thread has gone from one line to another one. */
  void took(int from, int to) {
    Edge edge = new Edge(from, to);
    ways.computeIfPresent(edge, (key, way) -> new Way(way.branch, way.target, true));
    waits.computeIfPresent(edge, (key, wait) -> new Wait(wait.place, true));
  }

  void reached(int line) {
    reached.set(line);
  }

  void add(int first, int second, Order order) {
    orders.putIfAbsent(new Edge(first, second), order);
  }

  void add(int line, Read read) {
    merge(reads, line, read, (old, other) -> !old.old && other.old);
  }

  private static <K, V> void merge(Map<K, V> all, K key, V value, BiPredicate<V, V> replaces) {
    all.merge(key, value, (old, other) -> replaces.test(old, other) ? other : old);
  }

  public void add(Coverage other) {
    reachable.or(other.reachable);
    executed.or(other.executed);
    reached.or(other.reached);
    add(other.ways, other.waits);
    other.orders.forEach((edge, order) -> add(edge.from, edge.to, order));
    other.reads.forEach(this::add);
  }

  /** Returns the number of instructions that the kernel can reach. */
  public int instructions() {
    return reachable.cardinality();
  }

  /** Returns true if a thread has executed the instruction of a line. */
  public boolean wasExecuted(int line) {
    return executed.get(line);
  }

  public int executed() {
    return executed.cardinality();
  }

  /** Returns the number of ways out of branches, those that lead to an error alone left out. */
  public int ways() {
    return ways.size();
  }

  /** Returns the ways that no thread has taken, by the line of their branch. */
  public List<Way> untaken() {
    return ways.entrySet().stream()
        .filter(way -> !way.getValue().taken)
        .sorted(Map.Entry.comparingByKey((a, b) -> Integer.compare(a.from, b.from)))
        .map(Map.Entry::getValue)
        .toList();
  }

  /** Returns the way that was taken from the branch of the highest line. */
  public Optional<Way> lastTaken() {
    return ways.entrySet().stream()
        .filter(way -> way.getValue().taken)
        .max(Map.Entry.comparingByKey(Comparator.comparingInt(Edge::from)))
        .map(Map.Entry::getValue);
  }

  /** Returns the number of waits that a thread has come to, or waited at. */
  public int waits() {
    return (int) waits.entrySet().stream().filter(this::wasReached).count();
  }

  private boolean wasReached(Map.Entry<Edge, Wait> wait) {
    return wait.getValue().waited || reached.get(wait.getKey().from);
  }

  /** Returns the waits that were reached and at which no thread has waited. */
  public List<Wait> neverWaited() {
    return waits.entrySet().stream()
        .filter(this::wasReached)
        .map(Map.Entry::getValue)
        .filter(wait -> !wait.waited)
        .toList();
  }

  /** Returns the number of pairs of accesses that nothing ordered. */
  public int pairs() {
    return (int) orders.keySet().stream().map(Coverage::sorted).distinct().count();
  }

  private static Edge sorted(Edge edge) {
    return edge.from <= edge.to ? edge : edge.reversed();
  }

  /** Returns the pairs that were seen in one order alone. */
  public List<Order> oneOrder() {
    return orders.entrySet().stream()
        .filter(order -> !orders.containsKey(order.getKey().reversed()))
        .map(Map.Entry::getValue)
        .toList();
  }

  /** Returns the loads that could have returned an older value and never did. */
  public List<Read> neverOld() {
    return reads.values().stream().filter(read -> !read.old).toList();
  }

  /** Returns the number of loads that could have returned an older value. */
  public int reads() {
    return reads.size();
  }

  /**
   * Returns true if each branch went each way and each pair that nothing orders was seen in both
   * orders.
   */
  public boolean isWhole() {
    return untaken().isEmpty() && oneOrder().isEmpty();
  }

  /** Returns a number that grows with everything new. */
  public long amount() {
    return (long) executed.cardinality()
        + ways.values().stream().filter(Way::taken).count()
        + waits.values().stream().filter(Wait::waited).count()
        + orders.size()
        + reads.size()
        + reads.values().stream().filter(Read::old).count();
  }
}

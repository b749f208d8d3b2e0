package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.formula.Frame;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelBuffer;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelSetting;
import dev.doorbell.experiments.config.kernel.NumberType;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The memory that a kernel brings at one rank: its buffers, which the HCA reaches and guards
 * surround, and the numbers that it writes for its metrics.
 */
public final class KernelMemory implements AutoCloseable {
  /** Beginning of the labels of memory that holds numbers of a metric. */
  public static final String SAMPLES = "samples of ";

  /** Bytes of a {@code doorbell::location}: an address, and a key with padding. */
  private static final int LOCATION_BYTES = 16;

  private final Rank rank;
  private final KernelScope scope;
  private final Owned owned = new Owned();
  private final Map<String, Buffer> buffers = new LinkedHashMap<>();
  private final Map<String, Memory> metrics = new LinkedHashMap<>();

  private record Buffer(KernelBuffer of, int count, GuardedMemory memory, MemoryRegion region) {}

  /**
   * Allocates, registers and fills the buffers.
   *
   * @param kind of memory that buffers lie in
   * @param rights of their regions
   * @param seed of {@code random} in formulas
   * @throws IllegalArgumentException when a formula gives no usable number, which checks of points
   *     have refused
   */
  public KernelMemory(
      Rank rank, KernelScope scope, MemoryKind kind, Set<AccessRight> rights, long seed) {
    this.rank = rank;
    this.scope = scope;
    try {
      for (KernelBuffer buffer : scope.extension().buffers()) {
        add(buffer, kind, rights, seed);
      }
    } catch (FormulaException e) {
      close();
      throw new IllegalArgumentException(e.why(), e);
    }
    for (KernelMetric metric : scope.extension().metrics()) {
      long bytes = (metric.once() ? 1 : Math.max(1, scope.iterations())) * Long.BYTES;
      Memory numbers = allocate(MemoryKind.DEVICE, bytes, SAMPLES + metric.name());
      numbers.fill(0, bytes, (byte) 0);
      metrics.put(metric.name(), numbers);
    }
  }

  private void add(KernelBuffer buffer, MemoryKind kind, Set<AccessRight> rights, long seed)
      throws FormulaException {
    int count = scope.count(buffer);
    int bytes = Math.multiplyExact(count, buffer.type().bytes());
    int guard = GuardedMemory.GUARD;
    MemoryKind where = buffer.multicast() == null ? kind : MemoryKind.DEVICE;
    Memory memory = allocate(where, bytes + 2L * guard, buffer.name());
    GuardedMemory guarded = new GuardedMemory(memory, guard, bytes);
    Formula fill = buffer.fill();
    if (fill != null) {
      memory.putBytes(guard, numbers(buffer.type(), fill, count, seed));
    }
    MemoryRegion region = owned.add(rank.domain().register(memory, guard, bytes, rights));
    buffers.put(buffer.name(), new Buffer(buffer, count, guarded, region));
  }

  private byte[] numbers(NumberType type, Formula formula, int count, long seed)
      throws FormulaException {
    byte[] bytes = new byte[count * type.bytes()];
    MemorySegment numbers = MemorySegment.ofArray(bytes);
    Frame frame = scope.frame(seed).set(Formula.RANK, rank.number());
    for (int i = 0; i < count; i++) {
      frame.set(Formula.INDEX, i);
      type.set(
          numbers,
          i,
          type.decimal() ? type.bits(formula.real(frame)) : type.bits(formula.whole(frame)));
    }
    return bytes;
  }

  private Memory allocate(MemoryKind kind, long bytes, String label) {
    return owned.add(rank.gpu().allocate(kind, bytes, label));
  }

  KernelScope scope() {
    return scope;
  }

  /**
   * Values of the kernel's parameters, by name.
   *
   * @param all the memory of every rank, by rank, this one among them
   */
  public Map<String, Long> arguments(List<KernelMemory> all) {
    Map<String, Long> arguments = new LinkedHashMap<>();
    for (KernelSetting setting : scope.extension().settings()) {
      arguments.put(setting.name(), setting.bits(scope.value(setting)));
    }
    metrics.forEach((name, numbers) -> arguments.put(name, numbers.address()));
    for (Map.Entry<String, Buffer> entry : buffers.entrySet()) {
      String name = entry.getKey();
      String multicast = entry.getValue().of.multicast();
      if (multicast != null) {
        arguments.put(multicast, multicast(name, all));
      }
      Memory locations =
          allocate(MemoryKind.DEVICE, (long) LOCATION_BYTES * all.size(), "locations of " + name);
      byte[] encoded = new byte[LOCATION_BYTES * all.size()];
      MemorySegment to = MemorySegment.ofArray(encoded);
      for (int number = 0; number < all.size(); number++) {
        Buffer buffer = all.get(number).buffer(name);
        int key = all.get(number) == this ? buffer.region.lkey() : buffer.region.rkey();
        NumberType.U64.set(to, 2L * number, buffer.memory.address());
        NumberType.U32.set(to, 4L * number + 2, Integer.toUnsignedLong(BigEndian.swap(key)));
      }
      locations.putBytes(0, encoded);
      arguments.put(name, locations.address());
    }
    return arguments;
  }

  /** The address of an object over a buffer at all ranks, guards included. */
  private long multicast(String name, List<KernelMemory> all) {
    List<Memory> members = all.stream().map(rank -> rank.buffer(name).memory.whole()).toList();
    return owned.add(rank.gpu().multicast(members, "multicast object over " + name)).address()
        + GuardedMemory.GUARD;
  }

  private Buffer buffer(String name) {
    Buffer buffer = buffers.get(name);
    if (buffer == null) {
      throw new IllegalArgumentException("no buffer is named " + name);
    }
    return buffer;
  }

  byte[] content(String name) {
    return buffer(name).memory.content();
  }

  @Nullable String damagedGuard() {
    for (Buffer buffer : buffers.values()) {
      String mismatch = buffer.memory.mismatch(buffer.memory.content());
      if (mismatch != null) {
        return "rank %d, buffer %s: %s"
            .formatted(rank.number(), buffer.of.name(), mismatch.replace(" of the inbox", ""));
      }
    }
    return null;
  }

  double[] metric(KernelMetric metric) {
    Memory numbers = metrics.get(metric.name());
    if (numbers == null) {
      throw new IllegalArgumentException("no metric is named " + metric.name());
    }
    MemorySegment bytes = MemorySegment.ofArray(numbers.getBytes(0, (int) numbers.size()));
    double[] values = new double[(int) (numbers.size() / Long.BYTES)];
    for (int i = 0; i < values.length; i++) {
      values[i] = metric.type().real(metric.type().get(bytes, i));
    }
    return values;
  }

  /**
   * Samples of a metric.
   *
   * @param ranks those that ran the kernel, by rank
   */
  public static double[] samples(KernelMetric metric, List<KernelMemory> ranks) {
    List<double[]> each = new ArrayList<>();
    ranks.forEach(rank -> each.add(rank.metric(metric)));
    double[] first = each.getFirst();
    return switch (metric.across()) {
      case FIRST -> first;
      case ALL -> each.stream().flatMapToDouble(Arrays::stream).toArray();
      case MAX, MIN, SUM, MEAN -> {
        double[] combined = first.clone();
        for (double[] other : each.subList(1, each.size())) {
          for (int i = 0; i < combined.length; i++) {
            combined[i] =
                switch (metric.across()) {
                  case MAX -> Math.max(combined[i], other[i]);
                  case MIN -> Math.min(combined[i], other[i]);
                  default -> combined[i] + other[i];
                };
          }
        }
        if (metric.across() == KernelMetric.Across.MEAN) {
          for (int i = 0; i < combined.length; i++) {
            combined[i] /= each.size();
          }
        }
        yield combined;
      }
    };
  }

  @Override
  public void close() {
    owned.close();
  }
}

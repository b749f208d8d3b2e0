package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.formula.Frame;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelBuffer;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelVerification;
import dev.doorbell.experiments.config.kernel.NumberType;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.ptxvm.launch.VmGpu;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Holds a kernel's own buffers, at all ranks, against what its descriptor says of them. */
public final class KernelVerifier {
  private static final long ENTRY_NANOS = 60_000_000_000L;

  private static final int FOUND_WORDS = 4;

  private final String name;
  private final String ptx;
  private final List<KernelMemory> ranks;
  private final KernelScope scope;

  /**
   * A verifier.
   *
   * @param name of the PTX in messages
   * @param ptx that has the verifying entry
   * @param ranks what every rank has, by rank
   */
  public KernelVerifier(String name, String ptx, List<KernelMemory> ranks) {
    this.name = name;
    this.ptx = ptx;
    this.ranks = List.copyOf(ranks);
    this.scope = ranks.getFirst().scope();
  }

  /** The first thing that is not as it should be, in words, or null. */
  public @Nullable String mismatch() {
    for (KernelMemory rank : ranks) {
      String damage = rank.damagedGuard();
      if (damage != null) {
        return damage;
      }
    }
    KernelVerification verification = scope.extension().verification().orElse(null);
    return switch (verification) {
      case null -> null;
      case KernelVerification.Expected expected -> mismatch(expected);
      case KernelVerification.Entry entry -> mismatch(entry);
    };
  }

  /** Bytes of the buffers that were looked at. */
  public long bytes() {
    return scope
        .extension()
        .verification()
        .map(KernelVerification::buffers)
        .orElse(List.of())
        .stream()
        .mapToLong(buffer -> ranks.stream().mapToLong(rank -> rank.content(buffer).length).sum())
        .sum();
  }

  private KernelBuffer buffer(String wanted) {
    return scope.extension().buffers().stream()
        .filter(buffer -> buffer.name().equals(wanted))
        .findFirst()
        .orElseThrow();
  }

  private record Numbers(String name, NumberType type, List<MemorySegment> ranks)
      implements Frame.Array {
    private long bits(long rank, long index) {
      if (rank < 0 || rank >= ranks.size()) {
        throw new IndexOutOfBoundsException("%s has no rank %d".formatted(name, rank));
      }
      MemorySegment numbers = ranks.get((int) rank);
      if (index < 0 || index >= numbers.byteSize() / type.bytes()) {
        throw new IndexOutOfBoundsException(
            "%s has no number %d, of %d".formatted(name, index, numbers.byteSize() / type.bytes()));
      }
      return type.get(numbers, index);
    }

    @Override
    public long whole(long rank, long index) {
      return type.whole(bits(rank, index));
    }

    @Override
    public double real(long rank, long index) {
      return type.real(bits(rank, index));
    }
  }

  private Numbers numbers(KernelBuffer buffer) {
    return new Numbers(
        buffer.name(),
        buffer.type(),
        ranks.stream().map(rank -> MemorySegment.ofArray(rank.content(buffer.name()))).toList());
  }

  private @Nullable String mismatch(KernelVerification.Expected expected) {
    Frame frame = scope.frame(0);
    Map<String, Numbers> numbers = new HashMap<>();
    for (KernelBuffer buffer : scope.extension().buffers()) {
      Numbers all = numbers(buffer);
      numbers.put(buffer.name(), all);
      frame.add(all);
    }
    try {
      for (Map.Entry<String, Formula> entry : expected.expected().entrySet()) {
        Numbers found = numbers.get(entry.getKey());
        for (int rank = 0; found != null && rank < ranks.size(); rank++) {
          String mismatch = mismatch(found, entry.getValue(), frame, rank, expected.tolerance());
          if (mismatch != null) {
            return mismatch;
          }
        }
      }
      return null;
    } catch (FormulaException e) {
      return e.why();
    }
  }

  private static @Nullable String mismatch(
      Numbers found, Formula formula, Frame frame, int rank, double tolerance)
      throws FormulaException {
    NumberType type = found.type;
    frame.set(Formula.RANK, rank);
    long count = found.ranks.get(rank).byteSize() / type.bytes();
    for (long i = 0; i < count; i++) {
      frame.set(Formula.INDEX, (double) i);
      long is = found.bits(rank, i);
      long wanted =
          type.decimal() ? type.bits(formula.real(frame)) : type.bits(formula.whole(frame));
      if (is != wanted && !isClose(type.real(is), type.real(wanted), tolerance)) {
        return "rank %d, %s(%d): %s instead of %s = %s"
            .formatted(rank, found.name, i, type.text(is), formula, type.text(wanted));
      }
    }
    return null;
  }

  private static boolean isClose(double is, double wanted, double tolerance) {
    return tolerance > 0 && Math.abs(is - wanted) <= tolerance * Math.abs(wanted);
  }

  /** Launches the entry on a GPU of its own, without HCAs and without virtual time. */
  private @Nullable String mismatch(KernelVerification.Entry entry) {
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(), 0);
        VmGpu gpu = new VmGpu(fabric, Locus.gpu(0, 0));
        Owned owned = new Owned()) {
      Kernel kernel = owned.add(gpu.load(name, ptx)).kernel(entry.name());
      KernelStatus status = owned.add(new KernelStatus(gpu, (long) ranks.size() * entry.threads()));
      Memory found = owned.add(gpu.allocate(MemoryKind.DEVICE, FOUND_WORDS * Long.BYTES, "found"));
      found.fill(0, found.size(), (byte) 0xff);
      KernelArguments arguments = new KernelArguments();
      for (int i = 0; i < entry.parameters().size(); i++) {
        String parameter = entry.parameters().get(i);
        Protocol.add(
            arguments,
            switch (parameter) {
              case "status" -> status.address();
              case "found" -> found.address();
              default ->
                  entry.buffers().contains(parameter)
                      ? copies(gpu, buffer(parameter), owned)
                      : scope.bits(parameter);
            },
            kernel.parameterBytes(i));
      }
      Launch launch =
          gpu.launch(
              kernel,
              LaunchConfig.of(ranks.size(), entry.threads()).withTimeout(ENTRY_NANOS),
              arguments,
              owned.add(gpu.createStream()));
      fabric.run(launch::done, ENTRY_NANOS);
      launch.check();
      String error = status.firstError(entry.name());
      return error == null ? null : error + place(found);
    } catch (GpuException e) {
      return "%s could not verify: %s".formatted(entry.name(), e.getMessage());
    }
  }

  private long copies(VmGpu gpu, KernelBuffer buffer, Owned owned) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    ranks.forEach(rank -> all.writeBytes(rank.content(buffer.name())));
    Memory memory =
        owned.add(gpu.allocate(MemoryKind.DEVICE, all.size(), buffer.name() + " of all ranks"));
    memory.putBytes(0, all.toByteArray());
    return memory.address();
  }

  private static String place(Memory found) {
    List<Long> words = new ArrayList<>();
    for (int i = 0; i < FOUND_WORDS; i++) {
      words.add(found.getLong((long) i * Long.BYTES));
    }
    return words.getFirst() < 0
        ? ""
        : " (rank %d, number %d: %d expected, %d found)"
            .formatted(words.get(0), words.get(1), words.get(2), words.get(3));
  }
}

package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.formula.Frame;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelStructure;
import dev.doorbell.experiments.config.kernel.KernelStructure.WorldNumber;
import dev.doorbell.experiments.scenario.world.Endpoint;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The structures that a descriptor lays out, {@code args}, over a rank's part of a world. */
public final class WorldStructures {
  private final Site site;
  private final long queuePairsAddress;

  /** The structures in the order of the names of their formulas, each with its place. */
  private final Map<String, Laid> laid = new LinkedHashMap<>();

  private record Laid(
      KernelStructure structure, KernelStructure.Layout layout, int count, Memory memory) {
    long element(int index) {
      return memory.address() + layout.bytes() * index;
    }
  }

  /** Addresses of multicast objects, in the order of the descriptor. */
  private final Map<String, Long> multicasts = new LinkedHashMap<>();

  private WorldStructures(Site site, long queuePairsAddress) {
    this.site = site;
    this.queuePairsAddress = queuePairsAddress;
  }

  /**
   * Lays structures out and fills them.
   *
   * @param queuePairs what a parameter {@code queue_pairs} points to
   * @param brought what the kernel's own settings, metrics and buffers give, by name
   * @return what a parameter of a structure's name gets: its address, or its bytes
   * @throws GpuException naming a structure that does not fit
   */
  public static Map<String, byte[]> install(
      KernelDescriptor descriptor, Site site, Memory queuePairs, Map<String, Long> brought) {
    WorldStructures world = new WorldStructures(site, queuePairs.address());
    for (String name : descriptor.extension().multicasts()) {
      world.multicasts.put(name, brought.getOrDefault(name, 0L));
    }
    try {
      for (KernelStructure structure : descriptor.structures()) {
        world.laid.put(structure.name(), world.place(structure));
      }
      Map<String, byte[]> arguments = new HashMap<>();
      for (Laid one : world.laid.values()) {
        byte[] bytes = world.fill(one);
        one.memory.putBytes(0, bytes);
        arguments.put(
            one.structure.name(), one.structure.byValue() ? bytes : encode(one.element(0)));
      }
      return arguments;
    } catch (FormulaException e) {
      throw new GpuException("%s: %s".formatted(site.module().name(), e.why()), e);
    } catch (IllegalArgumentException e) {
      throw new GpuException("%s: %s".formatted(site.module().name(), e.getMessage()), e);
    }
  }

  private static byte[] encode(long value) {
    return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  private Laid place(KernelStructure structure) {
    KernelStructure.Layout layout = structure.layout(site.targets().size(), site.places());
    int count = structure.each().count(site.targets().size(), site.places());
    long bytes = Math.max(1, layout.bytes() * count);
    Optional<String> symbol = structure.symbol();
    if (symbol.isPresent()) {
      Memory variable = site.module().global(symbol.get());
      if (bytes > variable.size()) {
        throw new IllegalArgumentException(
            "args.%s has %d bytes, and variable '%s' has %d"
                .formatted(structure.name(), bytes, symbol.get(), variable.size()));
      }
      return new Laid(structure, layout, count, variable);
    }
    Memory memory =
        site.owned()
            .add(
                site.rank()
                    .gpu()
                    .allocate(
                        structure.inHost() ? MemoryKind.HOST : MemoryKind.DEVICE,
                        bytes,
                        "args." + structure.name()));
    return new Laid(structure, layout, count, memory);
  }

  private byte[] fill(Laid one) throws FormulaException {
    ByteBuffer image = ByteBuffer.allocate(Math.toIntExact(one.layout.bytes() * one.count));
    for (int element = 0; element < one.count; element++) {
      Subject subject = subject(one.structure.each(), element);
      long base = one.layout.bytes() * element;
      for (int i = 0; i < one.structure.fields().size(); i++) {
        KernelStructure.Field field = one.structure.fields().get(i);
        fill(image, base + one.layout.offsets().get(i), one, field, subject, element);
      }
    }
    return image.array();
  }

  private void fill(
      ByteBuffer image,
      long at,
      Laid one,
      KernelStructure.Field field,
      Subject subject,
      int element)
      throws FormulaException {
    int numbers = field.numbers(site.targets().size(), site.places());
    for (int i = 0; i < numbers; i++) {
      boolean own = field.each() == KernelStructure.Each.ONCE;
      Frame frame =
          frame(own ? subject : subject(field.each(), i), one.structure.each(), own ? element : i);
      Formula formula = field.values().get(field.values().size() > 1 ? i : 0);
      put(image, Math.toIntExact(at) + i * field.type().bytes(), one, field, formula, frame);
    }
  }

  private static void put(
      ByteBuffer image, int at, Laid one, KernelStructure.Field field, Formula formula, Frame frame)
      throws FormulaException {
    long value = formula.whole(frame);
    int bits = field.type().bytes() * Byte.SIZE;
    if (bits < Long.SIZE && value >>> bits != 0 && value >> (bits - 1) != -1) {
      throw new FormulaException(
          "args.%s.%s has %d bits, too few for %s = %d"
              .formatted(one.structure.name(), field.name(), bits, formula, value));
    }
    image.order(field.type().bigEndian() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    switch (field.type().bytes()) {
      case Byte.BYTES -> image.put(at, (byte) value);
      case Short.BYTES -> image.putShort(at, (short) value);
      case Integer.BYTES -> image.putInt(at, (int) value);
      default -> image.putLong(at, value);
    }
  }

  /** The queue pair and the rank that a field is about; there is no queue pair to the own rank. */
  private record Subject(@Nullable Endpoint endpoint, int peer) {}

  private Subject subject(KernelStructure.Each each, int element) {
    return switch (each) {
      case ONCE -> of(site.endpoints().getFirst());
      case QUEUE_PAIR ->
          site.endpoints().stream()
              .filter(endpoint -> endpoint.index() == element)
              .findFirst()
              .map(this::of)
              .orElse(new Subject(null, site.rank().number()));
      case RANK ->
          new Subject(
              site.endpoints().stream()
                  .filter(endpoint -> site.peer(endpoint) == element)
                  .findFirst()
                  .orElse(null),
              element);
    };
  }

  private Subject of(Endpoint endpoint) {
    return new Subject(endpoint, site.peer(endpoint));
  }

  private Frame frame(Subject subject, KernelStructure.Each each, int element) {
    Map<WorldNumber, Long> numbers = numbers(subject, element);
    List<String> names = new ArrayList<>(WorldNumber.words());
    List<Long> values = new ArrayList<>();
    for (WorldNumber number : WorldNumber.values()) {
      values.add(numbers.getOrDefault(number, 0L));
    }
    for (Laid other : laid.values()) {
      // Of an array beside this one, the element of the same queue pair or rank.
      int index = other.structure.each() == each && element < other.count ? element : 0;
      names.add("args." + other.structure.name());
      values.add(other.element(0));
      for (int i = 0; i < other.structure.fields().size(); i++) {
        names.add(
            "args.%s.%s".formatted(other.structure.name(), other.structure.fields().get(i).name()));
        values.add(other.element(index) + other.layout.offsets().get(i));
      }
    }
    multicasts.forEach(
        (name, address) -> {
          names.add(KernelStructure.MULTICAST + name);
          values.add(address);
        });
    Frame frame = new Frame(new Formula.Names(names, List.of()), 0);
    for (int i = 0; i < values.size(); i++) {
      frame.set(i, values.get(i));
    }
    return frame;
  }

  private Map<WorldNumber, Long> numbers(Subject subject, int element) {
    Map<WorldNumber, Long> numbers = new EnumMap<>(WorldNumber.class);
    Endpoint endpoint = subject.endpoint;
    if (endpoint != null) {
      queues(numbers, endpoint);
    }
    numbers.put(WorldNumber.PAYLOAD_ADDRESS, site.local().address());
    numbers.put(WorldNumber.PAYLOAD_BYTES, site.local().bytes());
    numbers.put(WorldNumber.PAYLOAD_LKEY, Integer.toUnsignedLong(site.local().key()));
    numbers.put(WorldNumber.INBOX_ADDRESS, site.inbox().address());
    numbers.put(WorldNumber.INBOX_BYTES, site.inbox().bytes());
    numbers.put(WorldNumber.INBOX_LKEY, Integer.toUnsignedLong(site.inbox().key()));
    Site.Span peer = site.targets().get(subject.peer);
    numbers.put(WorldNumber.PEER_RANK, (long) subject.peer);
    numbers.put(WorldNumber.PEER_INBOX, peer.address());
    numbers.put(WorldNumber.PEER_BYTES, peer.bytes());
    numbers.put(WorldNumber.PEER_RKEY, Integer.toUnsignedLong(peer.key()));
    if (!site.signals().isEmpty()) {
      Site.Span own = site.signals().get(site.rank().number());
      Site.Span there = site.signals().get(subject.peer);
      numbers.put(WorldNumber.SIGNALS_ADDRESS, own.address());
      numbers.put(WorldNumber.SIGNALS_BYTES, own.bytes());
      numbers.put(WorldNumber.PEER_SIGNALS, there.address());
      numbers.put(WorldNumber.PEER_SIGNALS_RKEY, Integer.toUnsignedLong(there.key()));
    }
    numbers.put(WorldNumber.QUEUE_PAIRS_ADDRESS, queuePairsAddress);
    numbers.put(WorldNumber.RANK, (long) site.rank().number());
    numbers.put(WorldNumber.RANKS, (long) site.targets().size());
    numbers.put(WorldNumber.QUEUE_PAIRS, (long) site.places());
    numbers.put(WorldNumber.INDEX, (long) element);
    return numbers;
  }

  private void queues(Map<WorldNumber, Long> numbers, Endpoint endpoint) {
    QueuePair queuePair = endpoint.queuePair();
    numbers.put(WorldNumber.QP_INDEX, (long) endpoint.index());
    numbers.put(WorldNumber.QP_NUMBER, (long) queuePair.number());
    numbers.put(WorldNumber.QP_PEER, (long) site.peer(endpoint));
    numbers.put(WorldNumber.QP_RING, queuePair.sendRingAddress());
    numbers.put(WorldNumber.QP_BLOCKS, (long) queuePair.attributes().sendBlocks());
    numbers.put(WorldNumber.QP_RECORD, queuePair.recordAddress() + DoorbellRecord.SEND_OFFSET);
    numbers.put(WorldNumber.QP_DOORBELL, endpoint.doorbell());
    numbers.put(
        WorldNumber.QP_ON_GPU, queuePair.attributes().ringIn() == MemoryKind.HOST ? 0L : 1L);
    CompletionQueue completions = endpoint.completions();
    numbers.put(WorldNumber.CQ_NUMBER, (long) completions.number());
    numbers.put(WorldNumber.CQ_RING, completions.ringAddress());
    numbers.put(WorldNumber.CQ_ENTRIES, (long) completions.attributes().entries());
    numbers.put(WorldNumber.CQ_RECORD, completions.recordAddress());
  }
}

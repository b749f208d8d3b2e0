package dev.doorbell.experiments.workbench.diff;

import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.Multicast;
import dev.doorbell.experiments.scenario.kernel.KernelMemory;
import dev.doorbell.experiments.scenario.transfer.ForwardingGpu;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;

/**
 * A GPU that remembers what was allocated and mapped, so that all of it can be looked at in the
 * end, with addresses as places in what they point to: two GPUs have nothing else in common.
 */
final class RecordingGpu extends ForwardingGpu {
  /** Times are of this GPU alone. */
  private static final Set<String> NOT_COMPARED = Set.of("samples", "stamps");

  private static final long PLACE = 0xd00b_0000_0000_0000L;
  private static final int ROOM_SHIFT = 32;

  private final List<RecordingGpu> world;
  private final List<Memory> memories = new ArrayList<>();
  private final List<Range> ranges = new ArrayList<>();

  private record Range(long address, long bytes) {}

  RecordingGpu(Gpu gpu, List<RecordingGpu> world) {
    super(gpu);
    this.world = world;
    world.add(this);
  }

  SequencedMap<String, byte[]> contents() {
    SequencedMap<String, byte[]> contents = new LinkedHashMap<>();
    for (int i = 0; i < memories.size(); i++) {
      Memory memory = memories.get(i);
      String label = label(memory);
      if (!NOT_COMPARED.contains(label) && !label.startsWith(KernelMemory.SAMPLES)) {
        byte[] bytes = memory.getBytes(0, Math.toIntExact(memory.size()));
        relocate(bytes);
        contents.put("%s #%d of %s".formatted(label, i, locus()), bytes);
      }
    }
    return Collections.unmodifiableSequencedMap(contents);
  }

  /** The label it was allocated with, which is in its name's quotes. */
  private static String label(Memory memory) {
    String text = memory.toString();
    int from = text.indexOf('\'');
    int to = text.indexOf('\'', from + 1);
    return from >= 0 && to > from ? text.substring(from + 1, to) : text;
  }

  /** Replaces addresses, in either byte order, by places. */
  private void relocate(byte[] bytes) {
    MemorySegment segment = MemorySegment.ofArray(bytes);
    for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
      ValueLayout.OfLong word = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order);
      for (int at = 0; at + Long.BYTES <= bytes.length; at += Long.BYTES) {
        long address = segment.get(word, at);
        long place = address == 0 ? 0 : place(address);
        if (place != 0) {
          segment.set(word, at, place);
        }
      }
    }
  }

  private long place(long address) {
    for (int rank = 0; rank < world.size(); rank++) {
      List<Range> known = world.get(rank).ranges;
      for (int i = 0; i < known.size(); i++) {
        long offset = address - known.get(i).address();
        if (offset >= 0 && offset < known.get(i).bytes()) {
          return PLACE | (long) (rank << 8 | i) << ROOM_SHIFT | offset;
        }
      }
    }
    return 0;
  }

  @Override
  public Memory allocate(MemoryKind kind, long bytes, String label) {
    Memory memory = super.allocate(kind, bytes, label);
    memories.add(memory);
    ranges.add(new Range(memory.address(), bytes));
    return memory;
  }

  @Override
  public Multicast multicast(List<Memory> members, String label) {
    Multicast object = super.multicast(members, label);
    ranges.add(new Range(object.address(), members.getFirst().size()));
    return object;
  }

  @Override
  public long mapDeviceRegisters(long hostAddress, long bytes) {
    long address = super.mapDeviceRegisters(hostAddress, bytes);
    ranges.add(new Range(address, bytes));
    return address;
  }
}

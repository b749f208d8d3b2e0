package dev.doorbell.experiments.collective;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Executes schedules side by side on byte arrays. Their ranks take turns by chance, and a message
 * reads its source only when it arrives, as late as its receiver needs it: what a rank overwrites
 * too early is wrong at the receiver.
 */
final class ScheduleExecution {
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Rounds in which chance may pick nobody who can go on. */
  private static final int MOST_IDLE = 10_000;

  private final Call call;
  private final List<Schedule> channels;
  private final byte[][] arenas;

  /** The next step of each block; block {@code channel x ranks + rank} is that of a rank. */
  private final int[] next;

  private final Set<Message> arrived = new HashSet<>();
  private final List<Runnable> underWay = new ArrayList<>();
  private final SplittableRandom random;

  ScheduleExecution(Call call, List<Schedule> channels, long seed) {
    this.call = call;
    this.channels = channels;
    this.random = new SplittableRandom(seed);
    this.arenas = new byte[call.ranks()][];
    this.next = new int[channels.size() * call.ranks()];
    for (int rank = 0; rank < call.ranks(); rank++) {
      arenas[rank] = Arrays.copyOf(call.before(rank), arenaBytes(rank));
    }
  }

  private int arenaBytes(int rank) {
    return Math.toIntExact(channels.getLast().arenaBytes().get(rank)) + 16;
  }

  void run() {
    int idle = 0;
    while (!done() || !underWay.isEmpty()) {
      int before = underWay.size() + Arrays.stream(next).sum();
      for (int turn = 0; turn < next.length; turn++) {
        int block = random.nextInt(next.length);
        List<Step> steps = steps(block);
        if (next[block] < steps.size() && perform(block % call.ranks(), steps.get(next[block]))) {
          next[block]++;
        }
      }
      if (underWay.size() + Arrays.stream(next).sum() == before || random.nextInt(4) == 0) {
        if (underWay.isEmpty()) {
          if (++idle > MOST_IDLE) {
            throw new AssertionError("ranks wait for each other at " + Arrays.toString(next));
          }
          continue;
        }
        idle = 0;
        underWay.remove(random.nextInt(underWay.size())).run();
      }
    }
  }

  private List<Step> steps(int block) {
    return channels.get(block / call.ranks()).steps().get(block % call.ranks());
  }

  private boolean done() {
    for (int block = 0; block < next.length; block++) {
      if (next[block] < steps(block).size()) {
        return false;
      }
    }
    return true;
  }

  byte[] result(int rank, int length) {
    int at = Math.toIntExact(call.receiveAt(rank));
    return Arrays.copyOfRange(arenas[rank], at, at + length);
  }

  private boolean perform(int rank, Step step) {
    Message awaited = step.awaited();
    if (awaited != null && !arrived.contains(awaited)) {
      return false;
    }
    MemorySegment own = MemorySegment.ofArray(arenas[rank]);
    boolean packed = awaited != null && awaited.packed();
    switch (step.combine()) {
      case NONE -> {}
      case COPY ->
          MemorySegment.copy(
              own, packed ? step.second() : step.first(), own, step.target(), step.bytes());
      case REDUCE -> {
        MemorySegment first = own.asSlice(step.first());
        MemorySegment second = own.asSlice(step.second());
        int target = Math.toIntExact(step.target());
        for (int element = 0; element < step.bytes() / call.type().bytes(); element++) {
          call.type()
              .put(
                  arenas[rank],
                  target + element * call.type().bytes(),
                  call.reduction().of(get(first, element), get(second, element)));
        }
      }
      case SWITCH -> addInSwitch(step);
    }
    Message sent = step.sent();
    if (sent != null) {
      send(rank, step, sent);
    }
    return true;
  }

  /** Reduces what all ranks have at a place, and stores it in all of them. */
  private void addInSwitch(Step step) {
    int each = call.type().bytes();
    for (int element = 0; element < step.bytes() / each; element++) {
      int sum = get(MemorySegment.ofArray(arenas[0]).asSlice(step.first()), element);
      for (int rank = 1; rank < arenas.length; rank++) {
        MemorySegment other = MemorySegment.ofArray(arenas[rank]).asSlice(step.first());
        sum = call.reduction().of(sum, get(other, element));
      }
      for (byte[] arena : arenas) {
        call.type().put(arena, Math.toIntExact(step.target()) + element * each, sum);
      }
    }
  }

  private void send(int rank, Step step, Message sent) {
    int from = Math.toIntExact(step.source());
    int bytes = Math.toIntExact(sent.bytes());
    byte[] data = sent.packed() ? Arrays.copyOfRange(arenas[rank], from, from + bytes) : null;
    underWay.add(
        () -> {
          byte[] source = data == null ? arenas[rank] : data;
          System.arraycopy(
              source,
              data == null ? from : 0,
              arenas[sent.to()],
              Math.toIntExact(sent.offset()),
              bytes);
          arrived.add(sent);
        });
  }

  private int get(MemorySegment from, long element) {
    return switch (call.type()) {
      case FLOAT -> (int) Float.intBitsToFloat(from.get(INT, element * Integer.BYTES));
      case HALF -> (int) Float.float16ToFloat(from.get(SHORT, element * Short.BYTES));
      case BFLOAT16 ->
          (int) Float.intBitsToFloat(from.get(SHORT, element * Short.BYTES) << Short.SIZE);
      case INT32 -> from.get(INT, element * Integer.BYTES);
    };
  }
}

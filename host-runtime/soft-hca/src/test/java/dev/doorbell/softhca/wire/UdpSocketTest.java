package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Datagrams through the system, alone and many in a message. */
class UdpSocketTest {
  private static final int ROOM = 1 << 16;
  private static final int MESSAGES = 8;

  private final MemorySegment memory = Arena.ofAuto().allocate(2L * MESSAGES * ROOM, 64);

  /** What one socket sends of these sizes arrives at another as it was sent, in order. */
  private List<Integer> carried(Gid address, boolean whole, boolean wholeThere, int... sizes) {
    List<Integer> messages = new ArrayList<>();
    try (UdpSocket from = new UdpSocket(address, 0, 64, MESSAGES, whole);
        UdpSocket to = new UdpSocket(address, 0, 64, MESSAGES, wholeThere)) {
      long source = memory.address();
      long sink = source + (long) MESSAGES * ROOM;
      for (int i = 0; i < MESSAGES; i++) {
        to.in.receiveAt(i, sink + (long) i * ROOM, ROOM);
      }
      long at = source;
      for (int i = 0; i < sizes.length; i++) {
        RawMemory.fill(at, sizes[i], (byte) (i + 1));
        from.out.queue(at, sizes[i], address, to.port, 0);
        at += sizes[i];
      }
      from.out.send();
      assertThat(from.out.waiting()).isZero();
      assertThat(from.out.room()).isEqualTo(Outgoing.CAPACITY);
      int next = 0;
      while (next < sizes.length) {
        int got = to.in.receive();
        for (int i = 0; i < got; i++) {
          to.in.look(i);
          int bytes = to.in.bytes(i);
          int segment = to.in.segmentBytes > 0 ? to.in.segmentBytes : bytes;
          int datagrams = 0;
          for (int offset = 0; offset < bytes; offset += segment, datagrams++, next++) {
            assertThat(Math.min(segment, bytes - offset)).isEqualTo(sizes[next]);
            long first = sink + (long) i * ROOM + offset;
            assertThat(RawMemory.getByte(first)).isEqualTo((byte) (next + 1));
            assertThat(RawMemory.getByte(first + sizes[next] - 1)).isEqualTo((byte) (next + 1));
          }
          messages.add(datagrams);
          assertThat(to.in.senderPort(i)).isEqualTo(from.port);
        }
      }
      assertThat(from.out.refused).isZero();
    }
    return messages;
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, true, true",
    "127.0.0.1, true, false",
    "127.0.0.1, false, true",
    "127.0.0.1, false, false",
    "::1, true, true",
    "::1, true, false"
  })
  void datagrams_of_any_sizes_arrive_one_by_one_and_in_order(
      String address, boolean whole, boolean wholeThere) {
    List<Integer> messages =
        carried(
            Gid.parse(address), whole, wholeThere, 40, 40, 40, 28, 40, 4_136, 4_136, 100, 200, 200);
    if (!whole || !wholeThere) {
      assertThat(messages).containsOnly(1);
    }
  }

  @Test
  void more_than_the_system_takes_in_a_message_becomes_several() {
    int[] sizes = new int[40];
    Arrays.fill(sizes, 4_136);
    assertThat(
            carried(Gid.parse("127.0.0.1"), true, true, sizes).stream()
                .mapToInt(Integer::intValue)
                .sum())
        .isEqualTo(40);
  }

  @Test
  void a_system_that_does_not_cut_messages_gets_them_one_by_one() {
    try (UdpSocket from = new UdpSocket(Gid.parse("127.0.0.1"), 0, 64, MESSAGES, true);
        UdpSocket to = new UdpSocket(Gid.parse("127.0.0.1"), 0, 64, MESSAGES, true)) {
      Outgoing refusing =
          new Outgoing(
              new LinuxSockets() {
                @Override
                int sendmmsg(int socket, long messages, int count) {
                  boolean many = RawMemory.getLong(messages + 24) > 1;
                  return many ? -LinuxSockets.EIO : super.sendmmsg(socket, messages, 1);
                }
              },
              from.descriptor,
              from.local,
              true);
      for (int i = 0; i < 5; i++) {
        RawMemory.putInt(memory.address() + 40L * i, i);
        refusing.queue(memory.address() + 40L * i, 40, to.local, to.port, i < 2 ? 0 : 8);
      }
      refusing.send();
      assertThat(refusing.waiting()).isZero();
      assertThat(refusing.refused).isZero();
      long sink = memory.address() + (long) MESSAGES * ROOM;
      for (int i = 0; i < MESSAGES; i++) {
        to.in.receiveAt(i, sink + (long) i * ROOM, ROOM);
      }
      int got = 0;
      while (got < 5) {
        int more = to.in.receive();
        for (int i = 0; i < more; i++, got++) {
          to.in.look(i);
          assertThat(to.in.bytes(i)).isEqualTo(40);
          assertThat(RawMemory.getInt(sink + (long) i * ROOM)).isEqualTo(got);
          assertThat(to.in.trafficClass).isEqualTo(got < 2 ? 0 : 8);
        }
      }
    }
  }
}

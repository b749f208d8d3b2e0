package dev.doorbell.core.pcap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PcapngTest {
  @TempDir Path folder;

  private Path write(List<byte[]> frames, long firstNanos) throws IOException {
    Path file = folder.resolve("capture.pcapng");
    MemorySegment memory = Arena.global().allocate(1 << 16);
    try (PcapngWriter writer = PcapngWriter.create(file, "doorbell", "what it is about")) {
      writer.addInterface("soft0", "a wire", LinkType.ETHERNET);
      int second = writer.addInterface("soft1", "another", LinkType.RAW_IP);
      for (int i = 0; i < frames.size(); i++) {
        byte[] frame = frames.get(i);
        MemorySegment.copy(MemorySegment.ofArray(frame), 0, memory, 0, frame.length);
        writer.frame(
            i % 2 == 0 ? 0 : second,
            firstNanos + i,
            i % 2 == 0 ? Direction.OUTBOUND : Direction.INBOUND,
            memory.address(),
            frame.length,
            "");
      }
    }
    return file;
  }

  @Test
  void what_was_written_is_read_back() throws Exception {
    long seed = 99;
    SplittableRandom random = new SplittableRandom(seed);
    List<byte[]> frames = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      // More than the writer's buffer holds, of every length modulo 8.
      byte[] frame = new byte[i == 7 ? 65_535 : random.nextInt(5_000)];
      random.nextBytes(frame);
      frames.add(frame);
    }
    long nanos = 1_800_000_000_123_456_789L;
    Capture capture = CaptureReader.read(write(frames, nanos));
    assertThat(capture.comment()).isEqualTo("what it is about");
    assertThat(capture.application()).isEqualTo("doorbell");
    assertThat(capture.frames()).hasSameSizeAs(frames);
    for (int i = 0; i < frames.size(); i++) {
      CapturedFrame frame = capture.frames().get(i);
      assertThat(frame.bytes()).as("seed %d, frame %d", seed, i).isEqualTo(frames.get(i));
      assertThat(frame.number()).isEqualTo(i + 1);
      assertThat(frame.nanos()).isEqualTo(nanos + i);
      assertThat(frame.linkType()).isEqualTo(i % 2 == 0 ? LinkType.ETHERNET : LinkType.RAW_IP);
      assertThat(frame.direction()).isEqualTo(i % 2 == 0 ? Direction.OUTBOUND : Direction.INBOUND);
      assertThat(frame.isCut()).isFalse();
    }
  }

  @Test
  void virtual_time_starts_at_zero() throws Exception {
    Capture capture = CaptureReader.read(write(List.of(new byte[60]), 0));
    assertThat(capture.frames().getFirst().nanos()).isZero();
  }

  @Test
  void a_file_that_was_not_closed_is_readable_up_to_its_last_flush() throws Exception {
    Path file = write(List.of(new byte[100], new byte[100]), 0);
    byte[] bytes = Files.readAllBytes(file);
    byte[] cut = Arrays.copyOf(bytes, bytes.length - 9);
    assertThatThrownBy(() -> CaptureReader.read(cut)).hasMessageContaining("ends inside a block");
  }

  @Test
  void classic_pcap_of_either_byte_order_and_resolution_is_read() throws Exception {
    for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
      for (boolean nanoseconds : List.of(true, false)) {
        ByteBuffer file = ByteBuffer.allocate(24 + 16 + 6).order(order);
        file.putInt(nanoseconds ? 0xa1b23c4d : 0xa1b2c3d4);
        file.putShort((short) 2).putShort((short) 4).putInt(0).putInt(0).putInt(65_535).putInt(1);
        file.putInt(3).putInt(nanoseconds ? 5_000 : 5).putInt(6).putInt(90).put(new byte[6]);
        CapturedFrame frame = CaptureReader.read(file.array()).frames().getFirst();
        assertThat(frame.nanos()).isEqualTo(3_000_005_000L);
        assertThat(frame.linkType()).isEqualTo(LinkType.ETHERNET);
        assertThat(frame.isCut()).isTrue();
      }
    }
  }

  @Test
  void damage_is_an_error_that_says_where_and_never_a_fault() throws Exception {
    byte[] good = Files.readAllBytes(write(List.of(new byte[64], new byte[33]), 5));
    long seed = 4;
    SplittableRandom random = new SplittableRandom(seed);
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bad = good.clone();
      for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
        bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
      }
      try {
        CaptureReader.read(Arrays.copyOf(bad, random.nextInt(bad.length + 1)));
      } catch (CaptureException e) {
        assertThat(e)
            .as("seed %d, case %d", seed, i)
            .hasMessageMatching("at byte \\d+.*|neither.*");
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(10_000);
  }
}

package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.queue.CommandEntry;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CommandEntryTest {
  private static final int ENTRIES = 8;

  private static CommandEntry random(SplittableRandom random) {
    CommandEntry command = new CommandEntry();
    command.opcode = random.nextInt(256);
    command.flags = random.nextInt(256);
    command.queuePair = random.nextInt(1 << 16);
    command.length = random.nextInt() & Integer.MAX_VALUE;
    command.remoteAddress = random.nextLong();
    command.localAddress = random.nextLong();
    command.operand = random.nextLong();
    command.compare = random.nextLong();
    command.fetched = random.nextLong();
    command.remoteKey = random.nextInt();
    command.localKey = random.nextInt();
    command.immediate = random.nextInt();
    return command;
  }

  @Test
  void every_bit_of_every_field_survives_in_both_phases() {
    long seed = 0x5eedL;
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 2_000; i++) {
      CommandEntry command = random(random);
      long index = random.nextLong() >>> 1;
      long[] words = new long[CommandEntry.WORDS];
      EntryWriter.full(command, index, ENTRIES, words);
      CommandEntry read = new CommandEntry();
      read.decode(words);
      assertThat(read)
          .describedAs("seed %d case %d", seed, i)
          .usingRecursiveComparison()
          .isEqualTo(command);
      assertThat(CommandEntry.isFor(words[7], index)).isTrue();
      assertThat(CommandEntry.isFor(words[7], index ^ 1L << random.nextInt(25))).isFalse();
      for (long word : words) {
        assertThat(CommandEntry.present(word, CommandEntry.phase(index, ENTRIES))).isTrue();
        assertThat(CommandEntry.present(word, CommandEntry.phase(index + ENTRIES, ENTRIES)))
            .isFalse();
      }
    }
  }

  @Test
  void zeroed_memory_is_no_entry_of_the_first_lap() {
    for (long index = 0; index < ENTRIES; index++) {
      assertThat(CommandEntry.present(0, CommandEntry.phase(index, ENTRIES))).isFalse();
    }
    assertThat(CommandEntry.phase(ENTRIES, ENTRIES)).isZero();
    assertThat(CommandEntry.phase(2L * ENTRIES, ENTRIES)).isOne();
  }

  /** Worked out by hand from the diagram. */
  @Test
  void fields_lie_where_the_diagram_says() {
    CommandEntry command = new CommandEntry();
    command.opcode = CommandEntry.OP_COMPARE_SWAP;
    command.flags = 0xa5;
    command.queuePair = 0x1234;
    command.length = 8;
    command.remoteAddress = 0x1122334455667789L;
    command.localAddress = 0x8000000000000010L;
    command.operand = -1L;
    command.compare = 3;
    command.fetched = 0x8400000180000001L;
    command.remoteKey = 0xaabbccdd;
    command.localKey = 0x00000100;
    command.immediate = 0xcafef00d;
    long[] words = new long[CommandEntry.WORDS];
    EntryWriter.full(command, 0x1_0000_0003L, 4, words);
    assertThat(words)
        .containsExactly(
            0x051234a500000011L,
            0x1122334455667789L,
            0x8000000000000011L,
            0xffffffffffffffffL,
            0x0000000000000003L,
            0xddccbbaa0000007bL,
            0x0001000000000003L,
            0xcafef00d000001c3L);
    EntryWriter.full(command, 0x1_0000_0007L, 4, words);
    assertThat(words)
        .containsExactly(
            0x051234a500000010L,
            0x1122334455667788L,
            0x8000000000000010L,
            0xfffffffffffffffeL,
            0x0000000000000002L,
            0xddccbbaa0000007aL,
            0x0001000000000002L,
            0xcafef00d000003c2L);
  }

  @Test
  void inline_bytes_keep_their_order() {
    byte[] payload = new byte[CommandEntry.INLINE_BYTES];
    for (int i = 0; i < payload.length; i++) {
      payload[i] = (byte) (0xf1 - 7 * i);
    }
    for (int length = 0; length <= payload.length; length++) {
      CommandEntry command = new CommandEntry();
      command.inline(Arrays.copyOf(payload, length));
      long[] words = new long[CommandEntry.WORDS];
      EntryWriter.full(command, 5, ENTRIES, words);
      CommandEntry read = new CommandEntry();
      read.decode(words);
      assertThat(read.length).isEqualTo(length);
      for (int i = 0; i < length; i++) {
        assertThat(read.inlineByte(i)).isEqualTo(payload[i]);
      }
    }
    assertThatThrownBy(() -> new CommandEntry().inline(new byte[CommandEntry.INLINE_BYTES + 1]))
        .hasMessageContaining("at most 24 bytes, not 25");
  }

  @Test
  void the_signal_key_is_a_key_and_not_a_number() {
    CommandEntry command = new CommandEntry();
    EntryWriter.signalKey(command, 0x00000107);
    assertThat(command.immediate).isEqualTo(0x07010000);
    assertThat(command.signalKey()).isEqualTo(0x107);
  }
}

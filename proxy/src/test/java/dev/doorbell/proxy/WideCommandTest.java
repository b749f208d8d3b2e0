package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.WideCommand;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class WideCommandTest {
  @Test
  void every_bit_of_every_field_survives_in_both_phases() {
    SplittableRandom random = new SplittableRandom(0x5eed);
    long[] words = new long[WideCommand.WORDS];
    for (int i = 0; i < 2_000; i++) {
      CommandEntry command = new CommandEntry();
      command.opcode = random.nextInt(256);
      command.queuePair = random.nextInt(1 << 16);
      command.length = random.nextInt() & Integer.MAX_VALUE;
      command.localAddress = random.nextLong() >>> 1;
      command.remoteAddress = random.nextLong() >>> 1;
      long index = random.nextLong() >>> 2;
      EntryWriter.wide(command, index, 16, words);
      CommandEntry read = new CommandEntry();
      WideCommand.decode(words, read);
      assertThat(read).describedAs("case %d", i).usingRecursiveComparison().isEqualTo(command);
      assertThat(WideCommand.isFor(words, index)).isTrue();
      assertThat(WideCommand.isFor(words, index + 16)).isFalse();
      for (long word : words) {
        assertThat(CommandEntry.present(word, CommandEntry.phase(index, 16))).isTrue();
        assertThat(CommandEntry.present(word, CommandEntry.phase(index + 16, 16))).isFalse();
      }
    }
  }

  /** The words that handoff_family.cuh's diagram gives, computed by hand. */
  @Test
  void the_words_are_those_of_the_diagram() {
    CommandEntry put = new CommandEntry();
    put.opcode = CommandEntry.OP_PUT;
    put.queuePair = 0x1234;
    put.length = 24;
    put.localAddress = 0x1001;
    put.remoteAddress = 0x2002;
    long[] words = new long[WideCommand.WORDS];
    EntryWriter.wide(put, 8, 8, words);
    assertThat(words)
        .containsExactly(
            0x00_1234_00_0000_0030L, 0x4004, 0, 0x2002, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10);
  }
}

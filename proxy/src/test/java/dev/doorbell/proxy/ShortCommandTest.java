package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.ShortCommand;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ShortCommandTest {
  @Test
  void every_bit_of_every_field_survives_in_both_phases() {
    SplittableRandom random = new SplittableRandom(0x5eed);
    long[] words = new long[ShortCommand.WORDS];
    for (int i = 0; i < 2_000; i++) {
      CommandEntry command = new CommandEntry();
      command.opcode = random.nextInt(256);
      command.queuePair = random.nextInt(1 << 16);
      command.length = random.nextInt() & Integer.MAX_VALUE;
      command.localAddress = random.nextLong() >>> 32;
      command.remoteAddress = random.nextLong() >>> 32;
      long index = random.nextLong() >>> 1;
      EntryWriter.brief(command, index, 16, words);
      CommandEntry read = new CommandEntry();
      ShortCommand.decode(words[0], words[1], read);
      assertThat(read).describedAs("case %d", i).usingRecursiveComparison().isEqualTo(command);
      for (long word : words) {
        assertThat(CommandEntry.present(word, CommandEntry.phase(index, 16))).isTrue();
        assertThat(CommandEntry.present(word, CommandEntry.phase(index + 16, 16))).isFalse();
      }
    }
  }

  /** The words that handoff.cuh's diagram gives, computed by hand. */
  @Test
  void the_words_are_those_of_the_diagram() {
    CommandEntry put = new CommandEntry();
    put.opcode = CommandEntry.OP_PUT_INLINE;
    put.queuePair = 0x1234;
    put.length = 24;
    put.localAddress = 0x1001;
    put.remoteAddress = 0x2002;
    long[] words = new long[ShortCommand.WORDS];
    EntryWriter.brief(put, 0, 8, words);
    assertThat(words).containsExactly(0x03_1234_01_0000_0031L, 0x0000_2002_0000_1001L);
    EntryWriter.brief(put, 8, 8, words);
    assertThat(words).containsExactly(0x03_1234_01_0000_0030L, 0x0000_2002_0000_1000L);
  }
}

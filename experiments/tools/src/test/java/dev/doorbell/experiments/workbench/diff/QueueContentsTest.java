package dev.doorbell.experiments.workbench.diff;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.SendQueue;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class QueueContentsTest {
  private static final int LONG_UNITS = 15; // four blocks, and 16 bytes of the last are nobody's
  private static final int SHORT_UNITS = 3;

  /** A ring of eight blocks: WQEs of {@code units} one after another, over what was there. */
  private static byte[] ring(long before, byte content, int... units) {
    byte[] ring = new byte[8 * SendQueue.BLOCK];
    new Random(before).nextBytes(ring);
    int block = 0;
    for (int i = 0; i < units.length; i++) {
      int at = block * SendQueue.BLOCK;
      for (int b = 0; b < units[i] * SendQueue.UNIT; b++) {
        ring[at + b] = (byte) (content + units[i]);
      }
      ring[at + ControlSegment.DS_OFFSET] = (byte) units[i];
      ring[at + ControlSegment.WQE_INDEX_OFFSET] = (byte) (i + 1);
      ring[at + ControlSegment.FM_CE_SE_OFFSET] = (byte) (8 * i);
      block += SendQueue.blocks(units[i]);
    }
    assertThat(block).isEqualTo(8);
    return ring;
  }

  @Test
  void the_same_posts_in_another_order_are_the_same_whatever_was_in_the_ring() {
    byte[] one = ring(1, (byte) 7, LONG_UNITS, SHORT_UNITS, SHORT_UNITS, SHORT_UNITS, SHORT_UNITS);
    byte[] other =
        ring(2, (byte) 7, SHORT_UNITS, SHORT_UNITS, LONG_UNITS, SHORT_UNITS, SHORT_UNITS);
    assertThat(QueueContents.posts(one)).isEqualTo(QueueContents.posts(other));
  }

  @Test
  void every_byte_of_a_wqe_counts_but_its_index_and_what_it_asks_for() {
    byte[] posted = ring(1, (byte) 7, LONG_UNITS, LONG_UNITS);
    byte[] expected = QueueContents.posts(posted);
    for (int at = 0; at < LONG_UNITS * SendQueue.UNIT; at++) {
      byte[] changed = posted.clone();
      changed[at] ^= 0x40;
      boolean free =
          at == ControlSegment.WQE_INDEX_OFFSET
              || at == ControlSegment.WQE_INDEX_OFFSET + 1
              || at == ControlSegment.FM_CE_SE_OFFSET;
      assertThat(Arrays.equals(QueueContents.posts(changed), expected))
          .as("byte %d", at)
          .isEqualTo(free);
    }
  }
}

package dev.doorbell.proxy;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.generated.CommandQueueView;
import java.util.ArrayDeque;
import java.util.SplittableRandom;

/** A GPU thread that submits commands, one word of an entry a step, in any order of the words. */
final class Producer implements Agent {
  private final ThreadPort port;
  private final CommandQueueView queue;
  private final SplittableRandom random;
  private final ArrayDeque<CommandEntry> commands = new ArrayDeque<>();
  private final long[] words;
  private final int[] order;
  private boolean claimed;
  private boolean credited;
  private long index;
  private int stored;
  long last = -1;

  Producer(Fabric fabric, CommandQueueView queue, long seed) {
    this(fabric, queue, seed, CommandFormat.FULL);
  }

  Producer(Fabric fabric, CommandQueueView queue, long seed, CommandFormat format) {
    this.queue = queue;
    this.words = new long[format.words()];
    this.order = new int[format.words()];
    this.random = new SplittableRandom(seed);
    this.port = fabric.attachThread(Locus.gpu(0, 0), this);
  }

  void submit(CommandEntry command) {
    CommandEntry copy = new CommandEntry();
    copy.set(command);
    commands.addLast(copy);
  }

  boolean done() {
    return commands.isEmpty();
  }

  @Override
  public int step(int budget) {
    if (commands.isEmpty()) {
      return 0;
    }
    if (!claimed) {
      long old = port.atomic(Rmw.ADD, queue.head(), 8, 1, 0, Access.RELAXED | Access.GPU);
      if (port.parked) {
        return 0;
      }
      index = old;
      claimed = true;
    }
    if (!credited) {
      long consumed = port.load64(queue.consumed(), Access.ACQUIRE | Access.SYS);
      if (port.parked) {
        return 0;
      }
      if (index - consumed >= queue.entries()) {
        port.pollFailed(1_000_000);
        return 0;
      }
      credited = true;
      EntryWriter.write(commands.getFirst(), index, queue.entries(), words);
      for (int i = 0; i < order.length; i++) {
        int j = random.nextInt(i + 1);
        order[i] = order[j];
        order[j] = i;
      }
    }
    int word = order[stored];
    long entry = queue.ring() + (index & (queue.entries() - 1)) * words.length * Long.BYTES;
    port.store64(entry + 8L * word, words[word], Access.RELAXED | Access.SYS);
    if (port.parked) {
      return 0;
    }
    if (++stored == words.length) {
      commands.removeFirst();
      last = index;
      claimed = false;
      credited = false;
      stored = 0;
    }
    return 1;
  }
}

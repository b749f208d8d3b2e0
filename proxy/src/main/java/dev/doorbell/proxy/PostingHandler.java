package dev.doorbell.proxy;

import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.CommandEntry;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Posts the commands of one queue as WQEs on the queue pairs that they name. */
final class PostingHandler implements ProxyHandler {
  private final SendQueuePoster[] posters;
  private final @Nullable SendQueuePoster[] byIndex;
  private final ThreadPort port;

  private int polled;
  private int found;

  PostingHandler(SendQueuePoster[] posters, ThreadPort port) {
    this.posters = posters;
    this.port = port;
    int highest = Arrays.stream(posters).mapToInt(poster -> poster.queue().index()).max().orElse(0);
    byIndex = new SendQueuePoster[highest + 1];
    for (SendQueuePoster poster : posters) {
      byIndex[poster.queue().index()] = poster;
    }
  }

  @Override
  public boolean accept(
      CommandEntry command, long ticket, CommandResults results, StoreList stores) {
    if (command.opcode == CommandEntry.OP_FLUSH) {
      results.finished(ticket, false);
      return true;
    }
    SendQueuePoster poster = command.queuePair < byIndex.length ? byIndex[command.queuePair] : null;
    if (poster == null) {
      // The queue pair is unknown, so the waits of all of them end.
      for (SendQueuePoster any : posters) {
        refuse(any, command, ticket, stores);
      }
      results.finished(ticket, true);
      return true;
    }
    switch (poster.post(command, ticket, results, stores)) {
      case POSTED -> {
        return true;
      }
      case BUSY -> {
        return false;
      }
      case REFUSED -> refuse(poster, command, ticket, stores);
      case DEAD -> {
        // The error record is written.
      }
    }
    results.finished(ticket, true);
    return true;
  }

  private void refuse(SendQueuePoster poster, CommandEntry command, long ticket, StoreList stores) {
    poster.report(Abi.ERROR_ARGUMENT, 0, 0, 0, command.opcode, ticket, port.now(), stores);
  }

  @Override
  public void flush(StoreList stores) {
    for (SendQueuePoster poster : posters) {
      poster.ring(stores);
    }
  }

  @Override
  public int poll(ThreadPort port, StoreList stores) {
    while (polled < posters.length) {
      int here = posters[polled].poll(port, stores);
      if (here == PARKED) {
        return PARKED;
      }
      found += here;
      polled++;
    }
    int sum = found;
    polled = 0;
    found = 0;
    return sum;
  }

  @Override
  public String toString() {
    return Arrays.toString(posters);
  }
}

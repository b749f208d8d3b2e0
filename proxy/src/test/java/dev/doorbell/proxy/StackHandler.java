package dev.doorbell.proxy;

import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.proxy.ProxyHandler.CommandResults;
import java.util.ArrayList;
import java.util.List;

/** Holds up to three commands and ends the newest first. */
final class StackHandler implements ProxyHandler {
  final List<Long> seen = new ArrayList<>();
  private final List<Long> held = new ArrayList<>();
  private CommandResults results = (ticket, failed) -> {};

  @Override
  public boolean accept(
      CommandEntry command, long ticket, CommandResults results, StoreList stores) {
    this.results = results;
    if (held.size() == 3) {
      return false;
    }
    seen.add(command.operand);
    held.add(ticket);
    return true;
  }

  @Override
  public void flush(StoreList stores) {}

  @Override
  public int poll(ThreadPort port, StoreList stores) {
    int ended = held.size();
    while (!held.isEmpty()) {
      results.finished(held.removeLast(), false);
    }
    return ended;
  }
}

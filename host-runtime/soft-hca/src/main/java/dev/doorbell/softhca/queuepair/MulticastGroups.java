package dev.doorbell.softhca.queuepair;

import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.queuepair.HcaEngine.ScheduledQueuePair;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** The multicast groups of an HCA and their members. */
final class MulticastGroups {
  private final Map<Gid, Set<ScheduledQueuePair>> groups = new LinkedHashMap<>();

  void attach(Gid group, ScheduledQueuePair member) {
    groups.computeIfAbsent(group, _ -> new LinkedHashSet<>()).add(member);
  }

  /** Removes a member from a group; false if it is none. */
  boolean detach(Gid group, ScheduledQueuePair member) {
    Set<ScheduledQueuePair> members = groups.get(group);
    if (members == null || !members.remove(member)) {
      return false;
    }
    if (members.isEmpty()) {
      groups.remove(group);
    }
    return true;
  }

  /** {@code member} is gone: its memberships end. */
  void forget(ScheduledQueuePair member) {
    groups.values().forEach(members -> members.remove(member));
    groups.values().removeIf(Set::isEmpty);
  }

  void forEach(Gid group, Consumer<ScheduledQueuePair> receiver) {
    Set<ScheduledQueuePair> members = groups.get(group);
    if (members != null) {
      List.copyOf(members).forEach(receiver);
    }
  }
}

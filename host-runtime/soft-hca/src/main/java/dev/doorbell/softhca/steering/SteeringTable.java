package dev.doorbell.softhca.steering;

import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.steering.FrameFields.FlowMatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The steering rules and multicast groups of an HCA. A frame goes to the rule of the lowest
 * priority number that matches, the oldest first; rules of the same priority for the same match all
 * get it. A multicast goes to all of its group but who sent it.
 *
 * @param <Q> who receives
 */
public final class SteeringTable<Q> {
  private final List<FlowRule<Q>> rules = new ArrayList<>();
  private final Map<Gid, Set<Q>> groups = new LinkedHashMap<>();
  private final MemorySegment fields = Arena.ofAuto().allocate(FrameFields.BYTES, Long.BYTES);

  /** A rule. */
  public static final class FlowRule<Q> {
    private final FlowMatch match;
    private final int priority;
    private final List<Q> targets;
    private final @Nullable ReceiveHash hash;

    private FlowRule(FlowMatch match, int priority, List<Q> targets, @Nullable ReceiveHash hash) {
      this.match = match;
      this.priority = priority;
      this.targets = List.copyOf(targets);
      this.hash = hash;
    }

    private Q target(long fields) {
      return hash == null
          ? targets.getFirst()
          : targets.get(hash.of(fields) & (targets.size() - 1));
    }
  }

  /**
   * Adds a rule.
   *
   * @param targets one, or a power of two of them, of which a hash chooses one for each frame
   */
  public FlowRule<Q> add(
      FlowMatch match, int priority, List<Q> targets, @Nullable ReceiveHash hash) {
    FlowRule<Q> rule = new FlowRule<>(match, priority, targets, hash);
    int at = 0;
    while (at < rules.size() && rules.get(at).priority <= priority) {
      at++;
    }
    rules.add(at, rule);
    return rule;
  }

  public void remove(FlowRule<Q> rule) {
    rules.remove(rule);
  }

  /** Adds a member to a group; false if it is one already. */
  public boolean attach(Gid group, Q member) {
    return groups.computeIfAbsent(group, _ -> new LinkedHashSet<>()).add(member);
  }

  /** Removes a member from a group; false if it is none. */
  public boolean detach(Gid group, Q member) {
    Set<Q> members = groups.get(group);
    if (members == null || !members.remove(member)) {
      return false;
    }
    if (members.isEmpty()) {
      groups.remove(group);
    }
    return true;
  }

  /** {@code target} is gone: rules for it and its memberships end. */
  public void forget(Q target) {
    rules.removeIf(rule -> rule.targets.contains(target));
    groups.values().forEach(members -> members.remove(target));
    groups.values().removeIf(Set::isEmpty);
  }

  /**
   * Names the receivers of a frame.
   *
   * @param frame native address of {@code bytes} bytes
   */
  public void frame(long frame, int bytes, Consumer<Q> receiver) {
    if (rules.isEmpty()) {
      return;
    }
    FrameFields.read(frame, bytes, fields.address());
    for (int i = 0; i < rules.size(); i++) {
      FlowRule<Q> first = rules.get(i);
      if (first.match.accepts(fields.address())) {
        for (FlowRule<Q> rule : List.copyOf(rules.subList(i, rules.size()))) {
          if (rule.priority == first.priority && rule.match.equals(first.match)) {
            receiver.accept(rule.target(fields.address()));
          }
        }
        return;
      }
    }
  }

  public void multicast(Gid group, Consumer<Q> receiver) {
    Set<Q> members = groups.get(group);
    if (members != null) {
      List.copyOf(members).forEach(receiver);
    }
  }
}

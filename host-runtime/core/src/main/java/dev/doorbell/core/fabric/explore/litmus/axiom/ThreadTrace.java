package dev.doorbell.core.fabric.explore.litmus.axiom;

import java.util.List;
import java.util.Map;

/**
 * One way through a thread's code, for some values of its loads.
 *
 * @param events in program order
 * @param registers at the end
 * @param blocked the last event is a barrier that never lets the thread go on
 */
record ThreadTrace(List<Event> events, Map<String, Integer> registers, boolean blocked) {}

/**
 * Faults on demand: what a plan of faults says, and the book-keeping that decides, event by event,
 * whether one happens. The devices that ask do the harm themselves; nothing here touches memory,
 * wires or queues.
 *
 * <p>One plan serves a whole world. Each device binds it once and asks at each of its events; what
 * fired is counted, so that a run can say which faults it really met.
 */
@NullMarked
package dev.doorbell.core.fault;

import org.jspecify.annotations.NullMarked;

/**
 * The runtime that experiments find as a service: it chooses the environment of a run and hands
 * each point to its kind. The packages below it alone know the back ends.
 */
@NullMarked
package dev.doorbell.experiments.scenario;

import org.jspecify.annotations.NullMarked;

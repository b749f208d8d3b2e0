/**
 * The PTX memory model as a machine: words with the writes they remember, what each actor has
 * observed, and the happens-before checks. Agents, ports and devices come in only as actors.
 */
@NullMarked
package dev.doorbell.core.fabric.explore.model;

import org.jspecify.annotations.NullMarked;

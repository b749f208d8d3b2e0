/**
 * Puts that a CPU thread posts: handed to it by threads of a GPU through rings of short commands
 * (proxy_minimal), or on its own account.
 */
@NullMarked
package dev.doorbell.experiments.scenario.handoff;

import org.jspecify.annotations.NullMarked;

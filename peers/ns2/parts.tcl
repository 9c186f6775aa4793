# Shared parts of the ns-2 scripts: options, laws, routes, hosts, flows, and measured links.
#
# All counts begin after the warm-up. Queue lengths are sampled every 10 ms and leave out the packet on the wire.
# Results are printed one "name value" a line, with several places as "place/name value".
# "adaptive 1" makes RED adaptive; with min, max or weight 0 RED chooses them itself, adaptive or not. "bytes 1" makes RED
# count bytes, "mean_packet" of them a packet (0: "packet").

array set is {
    packet 1000  cc reno  ecn 1  law tail_drop  seed 1  duration 100  warmup 10  start 1
    min 50  max 150  weight 0.002  max_p 0.1  gentle 1  mark_below_p 0.1
    adaptive 0  target_delay 0.005  bytes 0  mean_packet 0
    target 100  a 1.822e-5  b 1.816e-5  hertz 160  virtual 0.98
    gamma 0.001  phi 1.001  period 0.002
}
array set queue_class { tail_drop DropTail red RED pi PI avq Vq rem REM }
array set agent_class { reno TCP/Reno newreno TCP/Newreno sack TCP/Sack1 }
array set sink_class { reno TCPSink newreno TCPSink sack TCPSink/Sack1 }

# Options of the command line, over the script's own defaults and those above.
proc read_options {own} {
    global is argv argv0
    array set is $own
    foreach {key value} $argv {
        if {![info exists is($key)]} { puts stderr "[file tail $argv0]: unknown key $key"; exit 2 }
        set is($key) $value
    }
}

# A simulator with the laws and the TCP of the options.
proc begin {} {
    global ns draws is
    set ns [new Simulator]
    remove-all-packet-headers
    add-packet-header IP TCP Flags
    $ns rtproto Manual
    global defaultRNG
    $defaultRNG seed $is(seed)
    set draws [new RNG]
    $draws seed [expr {100003 * $is(seed) + 17}]
    # ns-2 adds 40 bytes of header to packetSize_.
    Agent/TCP set packetSize_ [expr {$is(packet) - 40}]
    Agent/TCP set window_ 1000
    Agent/TCP set ecn_ $is(ecn)
    set_laws
}

proc set_laws {} {
    global is
    foreach {name key} {thresh_ min maxthresh_ max q_weight_ weight gentle_ gentle mark_p_ mark_below_p setbit_ ecn mean_pktsize_ packet adaptive_ adaptive targetdelay_ target_delay} {
        Queue/RED set $name $is($key)
    }
    Queue/RED set linterm_ [expr {1.0 / $is(max_p)}]
    Queue/RED set bytes_ $is(bytes)
    Queue/RED set queue_in_bytes_ $is(bytes)
    if {$is(mean_packet)} { Queue/RED set mean_pktsize_ $is(mean_packet) }
    foreach {name key} {a_ a b_ b w_ hertz qref_ target setbit_ ecn mean_pktsize_ packet} {
        Queue/PI set $name $is($key)
    }
    # AVQ's virtual link begins with the real one's rate.
    Queue/Vq set ecnlim_ 1.0
    foreach {name key} {gamma_ virtual markpkts_ ecn mean_pktsize_ packet} {
        Queue/Vq set $name $is($key)
    }
    foreach {name key} {gamma_ gamma phi_ phi pupdtime_ period pbo_ target markpkts_ ecn mean_pktsize_ packet} {
        Queue/REM set $name $is($key)
    }
}

# ---- Nodes and routes ---------------------------------------------------------------------------

# Routes by hand: ns-2's own set-up is cubic in the number of nodes.
proc module {node} {
    set module [$node get-module Manual]
    if {$module eq ""} {
        set module [new RtModule/Manual]
        $node register-module $module
    }
    return $module
}

# route NODE ?-default? NEIGHBOUR
proc route {node args} { eval [module $node] add-route-to-adj-node $args }

# At NODE, packets for HOST go to NEIGHBOUR.
proc route_by {node host neighbour} {
    global ns
    [module $node] add-route [$host node-addr] [[$ns link $node $neighbour] head]
}

# A host at ROUTER.
proc host {router rate delay} {
    global ns
    set host [$ns node]
    $ns duplex-link $host $router $rate $delay DropTail
    $ns queue-limit $host $router 100000
    $ns queue-limit $router $host 100000
    route $host -default $router
    route $router $host
    return $host
}

# A link with the law of the options, and one back without any.
proc managed_link {from to rate delay buffer} {
    global ns is queue_class
    $ns simplex-link $from $to $rate $delay $queue_class($is(law))
    $ns simplex-link $to $from $rate $delay DropTail
    $ns queue-limit $from $to $buffer
    $ns queue-limit $to $from 100000
}

# ---- Flows --------------------------------------------------------------------------------------

# The flow I of COUNT has this share of the way from the shortest to the longest delay.
proc spread {from to i count} {
    return [expr {$from + ($to - $from) * ($count > 1 ? double($i) / ($count - 1) : 0.0)}]
}

# A TCP agent from one host to another, and its receiver: {sender receiver}.
proc connection {source sink} {
    global ns is agent_class sink_class
    set sender [new Agent/$agent_class($is(cc))]
    set receiver [new Agent/$sink_class($is(cc))]
    $ns attach-agent $source $sender
    $ns attach-agent $sink $receiver
    $ns connect $sender $receiver
    return [list $sender $receiver]
}

# A greedy flow of this class.
proc greedy {class source sink} {
    global ns is draws senders
    set sender [lindex [connection $source $sink] 0]
    lappend senders($class) $sender
    set ftp [new Application/FTP]
    $ftp attach-agent $sender
    $ns at [$draws uniform 0 $is(start)] "$ftp start"
}

# A slot for mice of this class: an exponential number of packets, at least one; with the last ACK the next begins,
# its state fresh.
proc mouse {class source sink} {
    global ns is draws mice
    foreach {sender receiver} [connection $source $sink] {}
    set mice($sender) [list $class $receiver]
    $ns at [$draws uniform 0 $is(start)] "mouse_begins $sender"
}
proc mouse_begins {sender} {
    global ns draws is mice mouse_began mouse_packets
    set mouse_began($sender) [$ns now]
    set mouse_packets($sender) [expr {max(1, int(ceil([$draws exponential $is(mouse_packets)])))}]
    $sender reset
    # Once its SYN was lost, an agent always begins with one packet: not a fresh state, though the rows of peers.csv have it.
    if {!$is(keeps_window)} { $sender set windowInit_ [Agent/TCP set windowInit_] }
    [lindex $mice($sender) 1] reset
    $sender advanceby $mouse_packets($sender)
}
# ns-2 calls this when all data of an agent are acknowledged.
Agent/TCP instproc done {} {
    global ns is mice mouse_began mouse_packets lives life_packets
    if {![info exists mice($self)]} return
    if {[$ns now] >= $is(warmup)} {
        set class [lindex $mice($self) 0]
        lappend lives($class) [expr {[$ns now] - $mouse_began($self)}]
        incr life_packets($class) $mouse_packets($self)
    }
    # A microsecond later, as an agent cannot be reset while it processes an ACK.
    $ns at [expr {[$ns now] + 1e-6}] "mouse_begins $self"
}

# ---- Measurements -------------------------------------------------------------------------------

# Measures the queue of a managed link; NAME precedes its results ("" for the only one).
proc watch {name from to rate} {
    global ns watched monitor sojourns rates
    lappend watched $name
    set monitor($name) [$ns monitor-queue $from $to ""]
    set sojourns($name) [new Samples]
    $monitor($name) set-delay-samples $sojourns($name)
    set rates($name) [list 0 $rate]
}

# From TIME on the link and the one back have another rate. A packet in service is sent at the old one.
proc change_rate {name from to time rate} {
    global ns rates
    lappend rates($name) $time $rate
    foreach {a b} [list $from $to $to $from] { $ns at $time "[[$ns link $a $b] link] set bandwidth_ $rate" }
}

set counters {parrivals_ pdepartures_ pdrops_ pmarks_ bdepartures_}
proc sample {} {
    global ns watched monitor lengths
    foreach name $watched { incr lengths($name,[$monitor($name) set pkts_]) }
    $ns at [expr {[$ns now] + 0.01}] sample
}
proc start_measuring {} {
    global watched monitor sojourns counters before senders acked_before
    foreach name $watched {
        foreach counter $counters { set before($name,$counter) [$monitor($name) set $counter] }
        $sojourns($name) reset
    }
    foreach class [array names senders] {
        foreach sender $senders($class) { set acked_before($sender) [$sender set ack_] }
    }
    sample
}

proc print_metric {place name value} { puts "[expr {$place eq "" ? "" : "$place/"}]$name $value" }

proc report_link {name} {
    global is monitor sojourns counters before lengths
    foreach counter $counters {
        set got($counter) [expr {[$monitor($name) set $counter] - $before($name,$counter)}]
    }
    set n 0; set sum 0.0; set squares 0.0; set seen {}
    foreach key [array names lengths $name,*] {
        set length [lindex [split $key ,] 1]
        lappend seen [list $length $lengths($key)]
        incr n $lengths($key)
        set sum [expr {$sum + double($length) * $lengths($key)}]
        set squares [expr {$squares + double($length) * $length * $lengths($key)}]
    }
    set mean [expr {$sum / $n}]
    set below 0
    foreach pair [lsort -integer -index 0 $seen] {
        set p95 [lindex $pair 0]
        incr below [lindex $pair 1]
        if {$below >= 0.95 * $n} break
    }
    print_metric $name queue_mean_packets $mean
    print_metric $name queue_std_packets [expr {sqrt(max(0.0, $squares / $n - $mean * $mean))}]
    print_metric $name queue_p95_packets $p95
    print_metric $name sojourn_mean_s [$sojourns($name) mean]
    # ns-2's byte counters wrap at 2^31: 2 GB since the start.
    print_metric $name utilization [expr {8.0 * $got(bdepartures_) / [capacity $name]}]
    print_metric $name drop_ratio [expr {double($got(pdrops_)) / $got(parrivals_)}]
    print_metric $name mark_ratio [expr {double($got(pmarks_)) / $got(parrivals_)}]
    print_metric $name events [expr {$got(pdrops_) + $got(pmarks_)}]
}

# Bits that a link could have sent during the measurement.
proc capacity {name} {
    global is rates
    set bits 0.0
    foreach {from rate} $rates($name) {to -} [concat [lrange $rates($name) 2 end] [list $is(duration) 0]] {
        set bits [expr {$bits + $rate * max(0.0, min($to, $is(duration)) - max($from, $is(warmup)))}]
    }
    return $bits
}

# Results of a class of greedy flows; PLACE precedes them.
proc report_class {class place} {
    global is senders acked_before
    set acked 0.0; set squares 0.0
    foreach sender $senders($class) {
        set packets [expr {[$sender set ack_] - $acked_before($sender)}]
        set acked [expr {$acked + $packets}]
        set squares [expr {$squares + double($packets) * $packets}]
    }
    set seconds [expr {$is(duration) - $is(warmup)}]
    print_metric $place goodput_bps [expr {8.0 * ($is(packet) - 40) * $acked / $seconds}]
    print_metric $place jain_index [expr {$acked * $acked / ([llength $senders($class)] * $squares)}]
}

# Results of a class of mice.
proc report_mice {class} {
    global is lives life_packets
    set n [llength $lives($class)]
    set ordered [lsort -real $lives($class)]
    set sum 0.0
    foreach life $ordered { set sum [expr {$sum + $life}] }
    print_metric $class fct_mean_s [expr {$sum / $n}]
    print_metric $class fct_p95_s [lindex $ordered [expr {int(ceil(0.95 * $n)) - 1}]]
    print_metric $class completed_bps [expr {8.0 * ($is(packet) - 40) * $life_packets($class) / ($is(duration) - $is(warmup))}]
}

# Runs, and calls REPORT at the end.
proc measure {report} {
    global ns is
    $ns at $is(warmup) start_measuring
    $ns at $is(duration) "$report; exit 0"
    $ns run
}

"""The page's style. One file, no fonts or images from anywhere; light, dark, phones and paper."""

_LIGHT = """--bg:#fbfaf7;--card:#fff;--ink:#23211d;--soft:#6d685e;--line:#e3dfd6;--accent:#4f46e5;--tint:#efeefc;
--code:#f4f2ec;--bad:#b42318;--badbg:#fdeceb;--good:#166b3f;--add:#e3f5e9;--addink:#14532d;--del:#fde8e6;
--delink:#7f1d1d;
--addword:#b4e2c3;--delword:#f8bfba;--hunk:#e8eefb;--hunkink:#3b5488;--found:#ffe28a;--think:#f6f3fb;--c0:#23211d;--c1:#b42318;--c2:#166b3f;--c3:#946200;
--c4:#2456c7;
--c5:#9333a8;--c6:#0e7490;--c7:#6d685e;--c8:#6d685e;--c9:#c21f1f;--c10:#15773a;--c11:#8a6300;--c12:#2563c9;
--c13:#b01fc4;
--c14:#0a6c86;--c15:#615c53;"""
_DARK = """--bg:#16171a;--card:#1e2024;--ink:#e6e3dc;--soft:#9d988c;--line:#33363c;--accent:#a5a0ff;--tint:#26263d;
--code:#121316;--bad:#ff8b80;--badbg:#3a1f1f;--good:#6fd39b;--add:#17301f;--addink:#a9e5bd;--del:#3a1f20;
--delink:#ffb9b3;
--addword:#2a5c3a;--delword:#6b2e2e;--hunk:#1d2740;--hunkink:#a9bff0;--found:#7a5b00;--think:#221f2c;--c0:#9296a0;--c1:#ff8b80;--c2:#6fd39b;--c3:#e2b557;
--c4:#82aaff;
--c5:#d7a0ff;--c6:#67d3e0;--c7:#c9c5ba;--c8:#8b8f98;--c9:#ffa9a0;--c10:#96e6b8;--c11:#f2cf7d;--c12:#a9c4ff;
--c13:#e6c1ff;
--c14:#97e4ee;--c15:#fff;"""
_SHAPE = """
*{box-sizing:border-box}
html{scroll-padding-top:4.5rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);
font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
overflow-wrap:anywhere}
a{color:var(--accent)}
pre,code,.command,.at,.lang,summary b{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",
monospace}
pre{margin:.4rem 0;padding:.6rem .8rem;background:var(--code);border-radius:8px;font-size:.8rem;line-height:1.5;
white-space:pre-wrap;max-width:100%;unicode-bidi:isolate}
code{font-size:.86em;background:var(--code);border-radius:4px;padding:.1em .3em}
pre code{padding:0}
.page{max-width:78rem;margin:0 auto;padding:0 1.25rem 4rem;display:grid;grid-template-columns:15rem minmax(0,1fr);
gap:0 2.5rem}
.top{grid-column:1/-1;padding:2.2rem 0 1.2rem;border-bottom:1px solid var(--line);margin-bottom:1.5rem}
.top h1{margin:0 0 .8rem;font-size:1.6rem;line-height:1.25;letter-spacing:-.01em;text-wrap:balance}
.facts{display:flex;flex-wrap:wrap;gap:.45rem 1.6rem;margin:0;font-size:.86rem}
.facts div{display:flex;gap:.45rem}.facts dt{color:var(--soft)}.facts dd{margin:0;font-variant-numeric:tabular-nums}
.bad-fact dd{color:var(--bad);font-weight:600}
.tools{grid-column:1/-1;position:sticky;top:0;z-index:2;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;
padding:.55rem 0;background:var(--bg);margin:-1.5rem 0 1rem;border-bottom:1px solid var(--line)}
.tools[hidden]{display:none}
.tools input{flex:1 1 10rem;min-width:0;max-width:24rem;padding:.4rem .7rem;border:1px solid var(--line);
border-radius:8px;
background:var(--card);color:inherit;font:inherit;font-size:.9rem}
.tools button{padding:.4rem .7rem;border:1px solid var(--line);border-radius:8px;background:var(--card);color:inherit;
font:inherit;font-size:.82rem;cursor:pointer}
.tools button:hover,summary:hover{border-color:var(--accent)}
.tools output{font-size:.82rem;color:var(--soft);min-width:4.5rem;font-variant-numeric:tabular-nums}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.toc{font-size:.84rem;line-height:1.4;position:sticky;top:4rem;align-self:start;max-height:calc(100vh - 5rem);
overflow:auto;
grid-column:1;padding-bottom:2rem}
.toc h2{font-size:.72rem;text-transform:uppercase;letter-spacing:.08em;color:var(--soft);margin:.2rem 0 .5rem}
.toc ol{list-style:none;margin:0;padding:0}
.toc li a{display:block;padding:.35rem .6rem;border-left:2px solid var(--line);color:inherit;text-decoration:none}
.toc li a:hover,.toc li a.here{border-color:var(--accent);background:var(--tint);border-radius:0 6px 6px 0}
.toc li[hidden],.toc:has(#only-errors:checked) li:not(.bad),#sift[hidden]{display:none}
.toc .day{font-size:.72rem;color:var(--soft);padding:.5rem .6rem .1rem}
.toc .only{display:flex;gap:.4rem;align-items:center;color:var(--soft);margin:0 0 .4rem}
#sift{width:100%;padding:.3rem .6rem;margin:0 0 .4rem;border:1px solid var(--line);border-radius:8px;
background:var(--card);color:inherit;font:inherit;font-size:.82rem}
.strip{flex:1 1 100%;width:100%;height:16px;display:block}.strip .plain{fill:var(--line)}.strip .ask{fill:var(--accent);
opacity:.55}.strip .bad{fill:var(--bad)}.strip .sub{fill:var(--good)}.strip .here{fill:var(--ink)}
.strip .hit{fill:var(--c3)}.strip a:hover rect{opacity:1;fill:var(--accent)}
.told{margin-top:.7rem;font-size:.86rem}.told>summary small{color:var(--soft);margin-left:.4rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.todo .change{color:var(--accent);display:inline-block;margin-left:.4rem}
.question .chosen{font-weight:600;color:var(--good)}.question .chosen small{font-weight:400}
.toc small{display:block;color:var(--soft)}.toc .no,.no{color:var(--bad)}
main{grid-column:2;min-width:0}
.unit{margin:0 0 2.5rem;content-visibility:auto;contain-intrinsic-size:auto 2000px}
.unit>h2{font-size:.78rem;font-weight:600;color:var(--soft);display:flex;flex-wrap:wrap;gap:.2rem 1rem;
align-items:baseline;
margin:0 0 .6rem;padding-bottom:.3rem;border-bottom:1px solid var(--line);letter-spacing:.01em}
.unit>h2 a{color:inherit;text-decoration:none}.unit>h2 b{color:var(--ink)}
.ev{position:relative;margin:.7rem 0;border-radius:10px}
.ev:target,.res:target,.aside:target,.spot:target+*{outline:2px solid var(--accent);outline-offset:-2px}
.who{display:flex;gap:.6rem;align-items:baseline;font-size:.78rem;font-weight:600;color:var(--soft);margin-bottom:.2rem}
.at{margin-left:auto;padding-left:.6rem;font-size:.7rem;font-weight:400;color:var(--soft);text-decoration:none;
white-space:nowrap;
font-variant-numeric:tabular-nums}
.at:hover{text-decoration:underline}
.user{background:var(--tint);border-left:4px solid var(--accent);padding:.8rem 1.1rem;margin:0 0 1rem}
.user .who{color:var(--accent)}
.said{white-space:pre-wrap;unicode-bidi:isolate}
.bot{padding:.1rem 0}
.bot .at{float:right;line-height:1.6rem}
.md{max-width:50rem}.md>.code,.md>pre,.md>.table{max-width:none}
.md p{white-space:pre-line;margin:.5rem 0}.md h3,.md h4,.md h5,.md h6{margin:1.1rem 0 .4rem;line-height:1.3}
.md h3{font-size:1.15rem}.md h4{font-size:1.05rem}.md h5,.md h6{font-size:1rem}
.md ul,.md ol{padding-left:1.5rem;margin:.4rem 0}.md li{margin:.2rem 0;white-space:pre-line}
.md li>ul,.md li>ol{white-space:normal}
.md blockquote{margin:.5rem 0;padding:.1rem 1rem;border-left:3px solid var(--line);color:var(--soft)}
.md hr{border:0;border-top:1px solid var(--line);margin:1rem 0}
.code{position:relative}.lang{position:absolute;right:.6rem;top:.3rem;font-size:.65rem;color:var(--soft)}
.table{overflow-x:auto}table{border-collapse:collapse;font-size:.88rem;margin:.5rem 0}
th,td{border:1px solid var(--line);padding:.3rem .6rem;text-align:start;vertical-align:top;overflow-wrap:normal}
th{background:var(--code)}.left{text-align:left}.right{text-align:right}.center{text-align:center}
img{max-width:100%;height:auto;border-radius:8px;border:1px solid var(--line);display:block;margin:.5rem 0}
details>summary{cursor:pointer;list-style:none}
summary::-webkit-details-marker{display:none}
summary::before{content:"▸";display:inline-block;width:1.1em;color:var(--soft);flex:none}
details[open]>summary::before{content:"▾"}
.think{font-size:.9rem;color:var(--soft);margin:.5rem 0}
.think>summary{font-style:italic}.think>summary small{font-style:normal}
.think>.said{background:var(--think);border-radius:8px;padding:.6rem .9rem;margin-top:.3rem}
.tool{background:var(--card);border:1px solid var(--line)}
.tool>summary,.agent>summary{display:flex;align-items:baseline;gap:.4rem;padding:.4rem .8rem;font-size:.84rem;
min-width:0}
.tool>summary b{font-weight:600;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;max-width:60%;flex:none}
.tool>summary .out{color:var(--soft);overflow:hidden;text-overflow:ellipsis;white-space:nowrap;min-width:0;flex:1 1 0;
font-size:.8rem}.tool>summary .out::before{content:"→ "}
.tool>summary small{flex:none;color:var(--soft);white-space:nowrap}
.plus{color:var(--good)}.minus{color:var(--bad)}.tool[open]>summary .out{display:none}
.tool>summary code{background:none;color:var(--soft);overflow:hidden;text-overflow:ellipsis;white-space:nowrap;
min-width:0}
.tool:not([open])>summary:has(.out) code{max-width:60%}
.tool[open]>summary{flex-wrap:wrap}.tool[open]>summary code{white-space:pre-wrap}
.tool[open]>summary{border-bottom:1px solid var(--line)}
.body{padding:.4rem .8rem .6rem}
.tool.failed{border-color:var(--bad)}.tool .no,.res .no{font-weight:600;flex:none;font-size:.8rem}
.command{background:none;border:1px dashed var(--line);padding:.45rem .7rem}
.command::before{content:"$ ";color:var(--good);font-weight:700}
.res{border-radius:8px;display:flow-root}.res>.at{float:right;margin:.7rem .5rem 0 0}
.res.failed>pre{background:var(--badbg)}
.res .empty,.empty{color:var(--soft);font-style:italic;font-size:.82rem}
.more>summary{font-size:.8rem;color:var(--accent);padding:.1rem .2rem}
dl{margin:.3rem 0;display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem .9rem;font-size:.84rem}
dt{color:var(--soft);max-width:12rem}dd{margin:0;min-width:0}dd pre{margin:0}dd>ol{margin:0;padding-left:1.2rem}
.diff{padding:.5rem 0}.diff span{display:block;padding:0 .8rem}
.diff .add{background:var(--add);color:var(--addink)}.diff .del{background:var(--del);color:var(--delink)}
.diff b{font-weight:inherit;border-radius:3px}.diff .add b{background:var(--addword)}
.diff .del b{background:var(--delword)}
.diff .hunk{background:var(--hunk);color:var(--hunkink)}
.agent{border:1px solid var(--line);border-left:3px solid var(--good);border-radius:8px;margin:.6rem 0;
background:var(--bg)}
.agent>summary{font-weight:600}.agent>summary small{font-weight:400;color:var(--soft)}
.agent>.body>.user{font-size:.92rem}
.asides{display:none}body:has(#noise:checked) .asides,[data-density=all] .asides,
.asides:has(:target){display:block}
.page:not(.served):not(:has(#noise:checked)) #unit-0:not(:has(>.ev,>.agent,:target)){display:none}
.page:not(.served):not(:has(#noise:checked,#unit-0>.ev,#unit-0>.agent)) .toc a[href="#unit-0"]{display:none}
.asides,.witness{font-size:.78rem;color:var(--soft);margin:.3rem 0}
.asides>summary,.notice>summary,.think>summary{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.aside{display:flow-root;margin:.3rem 0 .3rem 1.1rem;padding-left:.7rem;border-left:2px solid var(--line)}
.aside>.at{float:right}.aside pre{font-size:.74rem}
.file{display:flex;gap:0;background:var(--code);border-radius:8px;margin:.4rem 0;overflow-x:auto}
.file pre{white-space:pre;margin:0;background:none;overflow:visible}
.file .gutter{color:var(--soft);user-select:none;text-align:right;padding-right:0;flex:none}
.args{font-size:.78rem;color:var(--soft);margin:.3rem 0}
.todo{list-style:none;padding-left:.2rem;margin:.3rem 0}.todo .done{color:var(--soft);text-decoration:line-through}
.todo .doing{font-weight:600}.question small,.todo small{color:var(--soft)}
.ev:has(>.notice)>.at{float:right}.notice{font-size:.86rem;color:var(--soft)}.raw{font-size:.78rem;color:var(--soft);margin-top:.3rem}
.idle{color:var(--c3)}.cost{font-variant-numeric:tabular-nums}
.noise,.noise label{display:flex;flex-wrap:wrap;gap:.4rem 1.2rem;align-items:center}.noise label{gap:.4rem}
.noise{margin-top:.7rem;font-size:.84rem;color:var(--soft);align-items:center}
.help{position:fixed;right:1rem;top:4rem;z-index:3;background:var(--card);border:1px solid var(--line);
border-radius:10px;padding:.6rem 1rem;box-shadow:0 8px 30px #0003;max-height:80vh;overflow:auto}
.help[hidden],.copy[hidden]{display:none}
.density button{border-radius:0;margin-left:-1px}.density button:first-child{border-radius:8px 0 0 8px}
.density button:last-child{border-radius:0 8px 8px 0}.density .on{background:var(--tint);border-color:var(--accent)}
.copy{position:absolute;z-index:1;font:inherit;font-size:.72rem;padding:.1rem .5rem;border:1px solid var(--line);
border-radius:6px;background:var(--card);color:var(--soft);cursor:pointer}
.now{outline:2px solid var(--accent);outline-offset:-2px}
.error{background:var(--badbg);border-left:4px solid var(--bad);padding:.6rem 1rem}
.error .who{color:var(--bad)}.error pre{background:none;padding:0;font-size:.86rem}
.step{display:flex;gap:.6rem;align-items:baseline;font-size:.86rem;color:var(--soft);
border-bottom:1px dotted var(--line);padding:.15rem 0}
.step b{color:var(--ink)}.step.failed,.step.failed b{color:var(--bad)}
footer{grid-column:2;color:var(--soft);font-size:.78rem;border-top:1px solid var(--line);padding-top:.8rem}
.toast{position:fixed;left:50%;bottom:1.5rem;transform:translateX(-50%);background:var(--ink);color:var(--bg);
padding:.4rem .9rem;
border-radius:8px;font-size:.85rem}.toast:empty{display:none}
.bold{font-weight:700}.dim{opacity:.65}.italic{font-style:italic}.under{text-decoration:underline}
.strike{text-decoration:line-through}
.inverse{filter:invert(1)}
::highlight(found){background:var(--found)}::highlight(current){background:var(--accent);color:var(--bg)}
.hit{outline:2px solid var(--found)}
@media (max-width:60rem){html{scroll-padding-top:7.5rem}.page{display:block;padding:0 .9rem 3rem}.toc{position:static;
max-height:14rem;
border:1px solid var(--line);
border-radius:10px;padding:.6rem;margin-bottom:1.2rem}.top{padding-top:1.2rem}.top h1{font-size:1.25rem}
.facts{gap:.3rem 1rem}.tool>summary .out{display:none}.tools button{min-height:2.75rem}.help{left:1rem}
#theme,#keys{display:none}
.tools{margin:-1.5rem 0 1rem}.user{padding:.7rem .8rem}dl{grid-template-columns:minmax(0,1fr);gap:0}
dd{margin-bottom:.3rem}
.body{padding:.3rem .6rem .5rem}.body .body{padding:.2rem .4rem}}
@media print{html{font-size:13px}body{background:#fff}.tools,.toast,.toc,.help,.copy,.noise,.raw{display:none!important}
.page{display:block;
max-width:none;padding:0}
.ev,.res{break-inside:auto}.user,.unit>h2,.who{break-after:avoid}pre,.user{border:1px solid #ccc}a{color:inherit}
.tool,.agent,.error{break-inside:auto;border-color:#bbb}.unit{margin-bottom:1.2rem;content-visibility:visible}}
"""
_TOKENS = ".t-k{color:var(--c4)}.t-s{color:var(--c2)}.t-n{color:var(--c5)}.t-c{color:var(--c8);font-style:italic}"
_TOKENS += ".t-f{color:var(--c3)}.t-b{color:var(--c6)}"
_INKS = "".join(f".ink{n}{{color:var(--c{n})}}.ground{n}{{background:var(--c{n});color:var(--bg)}}" for n in range(16))

STYLE = (
    f":root{{color-scheme:light;{_LIGHT}}}"
    f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{_DARK}}}}}"
    f":root[data-theme=dark]{{color-scheme:dark;{_DARK}}}"
    f"@media print{{:root:root:root{{color-scheme:light;{_LIGHT}}}}}"
    f"{_SHAPE}{_TOKENS}{_INKS}"
)

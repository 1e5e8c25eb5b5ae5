C#,a#b 1:1
#c 1:1
a#b,x# 2:1 # 3:1
 # nothing
C# 1:2 #3:1
